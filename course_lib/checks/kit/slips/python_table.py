"""Slips that are one line each: name: what stands there => what is written \
  :: what the student reads.

$a, $b, ... stand for any expression, $i and $j for a name, $_a for one that is no number; in a sentence, an
expression between backticks is filled in likewise, and `$$` is what is written. \\n parts two statements; a line may
go on below.
"""

EXPRESSIONS = r"""
term: $a + $b => $a :: the result you get without the term `+ $b`
term: $a + $b => $b :: the result you get without the term `$a`
term: $a - $b => $a :: the result you get without the term `- $b`
term: $a - $b => -$b :: the result you get without the term `$a`
sign: $a - $b => abs($a - $b) :: the absolute value of `$a - $b` is used, without its sign
factor: $a * $b => $a :: the result you get without the factor `$b`
factor: $a * $b => $b :: the result you get without the factor `$a`
factor: $a / $b => $a :: the division by `$b` is missing
factor: $a // $b => $a :: the division by `$b` is missing
factor: $a / $b => $a / $b / $b :: divided by `$b` twice
factor: $a ** $b => $a :: `$a` itself is used, without the power
factor: $a % $b => $a :: `$a` itself is used, without the remainder
sign: $a - $b => $b - $a :: `$a - $b` and `$b - $a` are swapped: the sign
sign: $a - $b => $a + $b :: `$b` is added: it must be subtracted
sign: $a + $b => $a - $b :: `$b` is subtracted: it must be added
sign: -$a => $a :: the minus before `$a` is missing
slope: $a * $x * (1 - $x) => $a :: the derivative `$x * (1 - $x)` is left out
slope: 1 - $x ** 2 => $x * (1 - $x) :: this is the derivative of the sigmoid, `$$`: here f is tanh
slope: $a * $i * (1 - $i) => $a / (1 + np.exp(-$i)) * (1 - 1 / (1 + np.exp(-$i))) \
  :: the sigmoid is applied to `$i` once more: `$i` is already its output
slope: sigmoid_prime($z) => sigmoid_prime(sigmoid($z)) \
  :: the derivative is taken at a, the output, not at z
no-function: 1 / (1 + np.exp(-$z)) => $z :: the sigmoid is left out: `$z` itself
no-function: 1 / (1 + math.exp(-$z)) => $z :: the sigmoid is left out: `$z` itself
no-function: $a.sum() => $a :: `$a` is not added up: a sum is missing
no-function: $a.sum(axis=0) => $a :: `$a` is not added up: a sum is missing
no-function: $a.all() => $a :: one answer for each entry of `$a`: `.all()` is missing
function: $a.sum() / $b => $a.mean() :: `$a.mean()` is the mean over all axes
function: -$a.sum() / $b => -$a.mean() :: `$a.mean()` is the mean over all axes
function: sum($a) => len($a) :: the number of entries of `$a` is used, not their sum
function: len($a) => $a.size :: `$a.size` counts all numbers of `$a`: its rows are `len($a)`
function: $a.sum() => len($a) :: the number of entries of `$a` is used, not their sum
function: max($a, $b) => $a + $b :: `$a` and `$b` are added: take the larger of them
function: $a.max() => $a[-1] :: the last entry of `$a` is used in place of its maximum
product: $_a * $_b => $a / $b :: divided by `$b`: multiply by it
product: $a / $b => $a * $b :: multiplied by `$b` instead of divided by it
product: $a - $_b => $a / $b :: divided by `$b`: subtract it
product: $a / $_b => $a - $b :: `$b` is subtracted: divide `$a` by it
upside-down: $a / $b => $b / $a :: the fraction is upside down: `$b / $a`
brackets: $a @ $b + $c => $a @ ($b + $c) :: the result you get from `$$`
brackets: $i($a + $b) => $i($a) + $b :: `$b` is added after `$i(...)`: it belongs inside the brackets
brackets: $a / ($b + $c) => $a / $b + $c :: the result you get from `$$`: brackets are missing
brackets: $a / ($b * $c) => $a / $b * $c :: the result you get from `$$`: brackets are missing
brackets: ($a + $b) / $c => $a + $b / $c :: the result you get from `$$`: brackets are missing
brackets: ($a - $b) / $c => $a - $b / $c :: the result you get from `$$`: brackets are missing
brackets: ($a + $b) * $c => $a + $b * $c :: the result you get from `$$`: brackets are missing
brackets: ($a - $b) * $c => $a - $b * $c :: the result you get from `$$`: brackets are missing
brackets: $a * ($b + $c) => $a * $b + $c :: the result you get from `$$`: brackets are missing
brackets: $a * ($b - $c) => $a * $b - $c :: the result you get from `$$`: brackets are missing
brackets: $a + ($b if $c else $d) => $a + $b if $c else $d \
  :: without brackets around `$b if $c else $d`, all of `$a + $b` depends on `$c`
brackets: $a + $b / $c => ($a + $b) / $c :: the result you get from `$$`: too much is divided
brackets: $a + $b + $c / $d => $a + ($b + $c) / $d :: the result you get from `$$`: too much is divided
brackets: $a + max($b, $c) => max($a + $b, $c) :: `$a` is inside the `max`: it belongs before it
brackets: $a + $b * $c => ($a + $b) * $c :: the result you get from `$$`: too much is multiplied
brackets: $a * $b + $c => $a * ($b + $c) :: the result you get from `$$`: too much is multiplied
brackets: $a * $b + $c + $d => $a * ($b + $c + $d) :: the result you get from `$$`: too much is multiplied
brackets: $a * $b + $c + $d => $a * $b + $c + $a * $d :: `$a` multiplies `$d` as well
brackets: $a * $b + $c => $b * ($a + $c) :: the result you get from `$$`: too much is multiplied
brackets: $a / $b + $c => ($a + $c) / $b :: the result you get from `$$`: too much is divided
brackets: $a // ($b + $c) => ($a - $c) // $b \
  :: `$c` is taken off `$a` once: it belongs to every `$b`
brackets: $a // ($b * $c) => $a // $b * $c :: the result you get from `$$`: brackets are missing
operands: $a @ $b => $b @ $a :: the operands of `@` are swapped: `$b @ $a`
operands: $a @ $b => $a * $b \
  :: `$a * $b` multiplies element by element: the product of matrices is `@`
transposed: $a.T => $a :: `$a` is used as it is: transpose it
transposed: $a @ $b => $a.T @ $b :: `$a.T @ $b`: an extra `.T`
transposed: $a @ $b => $a @ $b.T :: `$a @ $b.T`: an extra `.T`
rounding: -(-$a // $b) => $a // $b :: `$a // $b` rounds down: round up
rounding: -(-$a // $b) => $a // $b + 1 :: `$$` is one too many where it divides evenly
rounding: -(-$a // $b) => round($a / $b) :: `$a / $b` is rounded to the nearest whole number: round it up
rounding: math.ceil($a) => round($a) :: `$a` is rounded to the nearest whole number: round it up
rounding: -(-$a // $b) => $a / $b :: `$a / $b` is not rounded: round it up
rounding: (-(-$a // $b), -(-$c // $d)) => ($a // $b + ($c % $d > 0), -(-$c // $d)) \
  :: `$a // $b` is one larger where `$c % $d` is not 0: the remainder of `$a` by `$b` decides
rounding: (-(-$a // $b), -(-$c // $d)) => ($a // $b + ($c % $b > 0), -(-$c // $d)) \
  :: `$a // $b` is one larger where `$c % $b` is not 0: the remainder of `$a` by `$b` decides
rounding: (-(-$a // $b), -(-$c // $d)) => ($a // $b + ($a % $d > 0), -(-$c // $d)) \
  :: `$a // $b` is one larger where `$a % $d` is not 0: the remainder of `$a` by `$b` decides
rounding: (-(-$a // $b), -(-$c // $d)) => (-(-$a // $b), $c // $d + ($a % $b > 0)) \
  :: `$c // $d` is one larger where `$a % $b` is not 0: the remainder of `$c` by `$d` decides
rounding: (-(-$a // $b), -(-$c // $d)) => (-(-$a // $b), $c // $d + ($a % $d > 0)) \
  :: `$c // $d` is one larger where `$a % $d` is not 0: the remainder of `$c` by `$d` decides
rounding: (-(-$a // $b), -(-$c // $d)) => (-(-$a // $b), $c // $d + ($c % $b > 0)) \
  :: `$c // $d` is one larger where `$c % $b` is not 0: the remainder of `$c` by `$d` decides
rounding: -(-$a // $b) * $c => -(-($a * $c) // $b) \
  :: the product with `$c` is rounded up: round up `$a / $b` alone, then multiply
rounding: -(-$a // $b) * $b => $a :: `$a` is not rounded up to a multiple of `$b`
rounding: $a // $b => $a / $b :: `$a / $b` is not whole: round it down
rounding: $a // $b => -(-$a // $b) :: `$a / $b` is rounded up: round it down
rounding: $a / $b => $a // $b :: an integer division: `$a // $b`
rounding: $a % $b => $a // $b :: `$a // $b` is used in place of the remainder `$a % $b`
rounding: math.ceil($a * $b / $c) => $a * math.ceil($b / $c) \
  :: `$b / $c` is rounded up before it is multiplied by `$a`: round at the end
rounding: math.floor($a) + 1 => math.ceil($a) :: `math.ceil` is one too small where `$a` is whole
rounding: math.floor($a) + 1 => $a :: `$a` is not rounded
alias: $a.copy() => $a :: a second name for `$a`, not a copy: both are the same array
alias: np.empty_like($a) => $a :: a second name for `$a`, not a new array: both are the same array
alias: [[] for $i in range($n)] => [[]] * $n :: `[[]] * $n` is one list under many names
dtype: np.empty_like($a) => np.empty($a.shape) :: `$$` makes float64, whatever `$a` is
dtype: np.empty($a) => np.empty($a, np.float32) :: `$$` is not float64
dtype: np.zeros($a, $d) => np.zeros($a) :: `$$` without a dtype makes float64
dtype: $a.astype($d) => $a :: `$a` keeps its dtype: a conversion is missing
condition: $a if $c else $b => $a :: `$a` is always used, not only where `$c` is true
condition: $a if $c else $b => $b :: `$b` is always used, even where `$c` is true
turned-round: $a if $c else $b => $b if $c else $a :: the two cases of `$c` are swapped
turned-round: not $a => $a :: `not` is missing before `$a`
condition: $a & $b => $a :: the condition `$b` is not checked
condition: $a & $b => $b :: the condition `$a` is not checked
collection: {$a for $i in $c} => [$a for $i in $c] \
  :: equal ones are counted more than once: every `$a`, not a set of them
backwards: reversed($a) => $a :: the loop runs forwards over `$a`
neighbour: $a[$i] => $a[$i + 1] :: `$$` is used: the entry after the right one
neighbour: $a[$i] => $a[$i - 1] :: `$$` is used: the entry before the right one
neighbour: $a[$i] => $a[0] :: `$a[0]` is used for all
neighbour: $a[$b[$i]] => $a :: all of `$a` is passed, not one part of it
neighbour: $a[$i] => $a :: all of `$a` is passed, not one part of it
rest: $i < $a % $b => $i >= $b - $a % $b :: the larger shares come last: they must come first
rest: $i < $a % $b => $a % $b if $i == $b - 1 else 0 :: the whole remainder goes to the last one
rest: $i < $a % $b => $a % $b if $i == 0 else 0 :: the whole remainder goes to the first one
late-binding: $f(target=$w, args=($t,)) => $f(target=lambda: $w($t)) \
  :: `lambda: $w($t)` reads `$t` when it RUNS
called: $f(target=$w, args=($t,)) => $f(target=$w($t)) \
  :: `target=$w($t)` calls the work at once, in this thread
called: $t.start() => $t.run() :: `.run()` does the work in the calling thread: `.start()` is meant
number: comm.size => 4 :: `4` is written for the number of ranks: take `comm.size`
no-sum: $c.allreduce($m) => $m :: only the rank's own `$m` is used: the sum over the ranks is missing
no-sum: $c.allreduce($m) => $m * $c.size :: every rank is assumed to be like this one: `$$`
collective: $c.allreduce($m) => $c.reduce($m) \
  :: `reduce` gives the sum only to rank 0, and None to the others
no-sum: $c.bcast($a if $r else None) => $a :: only rank 0 has `$a`: the others must get it too
no-sum: $c.bcast($m) => $m :: the rank's own `$m` is used: nothing comes from rank 0
collective: $c.allgather($m) => $c.gather($m) :: gathered only on rank 0: `gather`
no-sum: $c.allgather($m) => [$m] :: the rank looks only at its own part
blocking: $c.Isend($m, dest=$d) => $c.Send($m, dest=$d) :: `Send` blocks until the message is received
blocking: $c.Isend($m, dest=$d) => $c.Isend($m, dest=$d).Wait() :: waits at once for each message
blocking: $c.Iallreduce($a, $b) => $c.Iallreduce($a, $b).Wait() :: waits at once for each sum
mean: np.float32($a / $b) => np.float32(1 / comm.size) :: a mean of means: right for equal shares only
mean: np.float32($a / $b) => np.float32(1 / $b) :: each rank's mean counts as one row: it is the mean of `$a` rows
own-draw: np.random.default_rng($i) => np.random.default_rng($i + comm.rank) \
  :: each rank draws different random numbers
own-draw: np.random.default_rng([$i, $b]) => np.random.default_rng([$i, comm.rank]) \
  :: each rank draws different random numbers
own-draw: $c.init_params($i) => $c.init_params($i + comm.rank) :: each rank starts from different parameters
own-rows: shard($a, $b, comm.rank) => shard($a, $b, 0) \
  :: every rank takes the first share: its own is number `comm.rank`
own-rows: $a[shard($b, $c, $d)] => $a :: each rank uses all of `$a`, not its share
pickled: $c.Isend($m, dest=$d) => $c.isend($m, dest=$d) \
  :: `isend` pickles the array: send it with `Isend`
pickled: $c.Send($m, dest=$d) => $c.send($m, dest=$d) \
  :: `send` pickles the array: send it with `Send`
"""

STATEMENTS = r"""
sign: $a += $b => $a -= $b :: `$b` is subtracted: it must be added
sign: $a -= $b => $a += $b :: `$b` is added: it must be subtracted
update: $a += $b => $a = $b :: the old value is overwritten with `$b`: `=` for `+=`
update: $a *= $b => $a += $b :: `$b` is added: multiply by it
update: $a[$k] = $b => $a[$k] += $b :: `$b` is added to the old value: `+=` instead of `=`
update: $i += $b => $i[:] = $b :: `$b` overwrites the old value: it must be added
alias: $i += $b => $i = $i + $b \
  :: `$i + $b` makes a new array or number: the old one does not change
alias: $i -= $b => $i = $i - $b \
  :: `$i - $b` makes a new array or number: the old one does not change
no-sum: $c.Allreduce($s, $r) => $r[...] = $s \
  :: each rank's own numbers: the sum over the ranks is missing
mean: $c.Allreduce($s, $r) => $c.Allreduce($s, $r)\n$r /= $c.size \
  :: the sum is also divided by the number of ranks
collective: $c.Allreduce($s, $r) => $c.Reduce($s, $r) :: `Reduce` gives the sum only to rank 0
collective: $c.Reduce($s, $r) => $c.Allreduce($s, $r) :: `Allreduce` gives the sum to every rank
collective: $c.Scatterv($s, $r) => if comm.rank == 0:\n    $c.Scatterv($s, $r) \
  :: only rank 0 calls `Scatterv`: every rank must
blocking: $a.append($c.Iallreduce($m, $t)) => $c.Allreduce($m, $t) :: `Allreduce` waits for each sum
pickled: $c.Sendrecv($s, dest=$d, recvbuf=$b, source=$f) \
  => $b[...] = $c.sendrecv($s, dest=$d, source=$f) \
  :: `sendrecv` pickles the array: send it with `Sendrecv`
operation: $c.Allreduce($s, $r) => from mpi4py import MPI\n$c.Allreduce($s, $r, op=MPI.MAX) \
  :: the largest, not the sum
blocking: $c.Sendrecv($s, dest=$d, recvbuf=$b, source=$f) \
  => $c.Send($s, dest=$d)\n$c.Recv($b, source=$f) \
  :: all ranks send first, and none receives
blocking: $c.Sendrecv($s, dest=$d, recvbuf=$b, source=$f) \
  => $c.Recv($b, source=$f)\n$c.Send($s, dest=$d) \
  :: all ranks receive first, and none sends
blocking: $c.Sendrecv($s, dest=$d, recvbuf=$b, source=$f) \
  => $c.Isend($s, dest=$d)\n$c.Recv($b, source=$f) \
  :: `Isend` without a `Wait`
wrong-way: $c.Sendrecv($s, dest=$d, recvbuf=$b, source=$f) \
  => $c.Sendrecv($s, dest=$f, recvbuf=$b, source=$d) \
  :: the wrong direction: from right to left
wrong-way: $c.Sendrecv($s, dest=$d, recvbuf=$b, source=$f) \
  => $c.Sendrecv($s, dest=$d, recvbuf=$b, source=$d) \
  :: it sends to the rank that it receives from
wrong-way: $c.Sendrecv($s, dest=$d, recvbuf=$b, source=$f) \
  => $c.Sendrecv($s, dest=$f, recvbuf=$b, source=$f) \
  :: it sends to the rank that it receives from
collective: $c.Allreduce($s, $r) => if comm.rank == 0:\n    $c.Allreduce($s, $r) \
  :: only rank 0 calls `Allreduce`: every rank must
joined: for $t in $c: $t.start()\nfor $t in $c: $t.join() \
  => for $t in $c:\n    $t.start()\n    $t.join() \
  :: each thread is joined before the next is started
"""
