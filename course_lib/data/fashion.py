"""Fashion-MNIST: a sample in the package, and the official files by download."""

from course_lib.data.dataset import Dataset
from course_lib.data.folders import cache_folder, own_file
from course_lib.data.mnist import image_dataset
from course_lib.data.packed import FILES, unpack
from course_lib.errors import BadInput

CLASS_NAMES = (
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag",
    "Ankle boot",
)  # fmt: skip
FOLDER = "fashion-mnist"
# name, bytes, MD5 of the four official files
OFFICIAL = (
    ("train-images-idx3-ubyte.gz", 26_421_880, "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
    ("train-labels-idx1-ubyte.gz", 29_515, "25c81989df183df01b3e8a0aad5dffbe"),
    ("t10k-images-idx3-ubyte.gz", 4_422_102, "bef4ecab320f06d8554ea6380940ec79"),
    ("t10k-labels-idx1-ubyte.gz", 5_148, "bb300cfdad3c16e7a12a480ee83cd310"),
)
MIRRORS = (
    "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
    "https://storage.googleapis.com/tensorflow/tf-keras-datasets/",
)
HOME = "https://github.com/zalandoresearch/fashion-mnist"
N_VAL = {"sample": 1_000, "official": 10_000}
SAMPLE_NOTE = (
    "A SAMPLE of Fashion-MNIST (Zalando SE, MIT licence): 7,000 genuine images, 28 x 28 grey pixels / 255, each "
    "class equally often, 5,000 for training, 1,000 for validation, 1,000 for test; no image occurs twice. This "
    "is NOT the official split (official training and test images are mixed): accuracies on it do not compare "
    "with published ones. For those: load_fashion_mnist(sample=False), which downloads 31 MB once."
)
OFFICIAL_NOTE = (
    "The official Fashion-MNIST files (Zalando SE, MIT licence), 28 x 28 grey pixels / 255, in their original "
    "order. Training is the first 50,000 of the training file, validation its last 10,000, test the test file."
)


def load_fashion_mnist(sample=True) -> Dataset:
    """Fashion-MNIST as a `Dataset`: x (N, 784) float32 in [0, 1], y int64, ten kinds of clothing (Singh 2018).

    sample=True: 5,000 / 1,000 / 1,000 images from the package, no network; not the official split.
    sample=False: the official files, 50,000 / 10,000 / 10,000, from the folder `fashion-mnist` in the folder
    that the environment variable COURSE_DATA names, else from the user's cache, else downloaded into it.
    Raises BadInput where a file is missing, damaged, or cannot be downloaded (the message says what to do).
    """
    if sample:
        files = unpack(FILES / "fashion-mnist-sample")
        about = "Fashion-MNIST (sample)", SAMPLE_NOTE
        return image_dataset(files, N_VAL["sample"], CLASS_NAMES, *about)
    files = {entry[0].removesuffix(".gz"): _official_file(*entry) for entry in OFFICIAL}
    return image_dataset(files, N_VAL["official"], CLASS_NAMES, "Fashion-MNIST", OFFICIAL_NOTE)


def _official_file(name, size, md5):
    """The path of one official file, verified."""
    from course_lib.data import download  # here, because it brings in ssl and the HTTP client

    file = download.RemoteFile(name, size, md5)
    own = own_file(f"{FOLDER}/{name}")
    if own is None:
        try:
            return download.fetch(file, MIRRORS, cache_folder(FOLDER))
        except BadInput as error:
            raise BadInput(f"{error}. {_advice()}") from None
    if not download.is_genuine(own, file):
        what = f"{own} is not the official file (size or MD5 differ)"
        raise BadInput(f"{what}: remove it, or get it from {HOME}")
    return own


def _advice():
    names = ", ".join(name for name, _, _ in OFFICIAL)
    return (
        f"Without a network: get {names} from {HOME} on another machine and put them into "
        f"{cache_folder(FOLDER)}, or into the folder {FOLDER} of a folder that COURSE_DATA names; "
        "or work with the sample in the package, load_fashion_mnist()"
    )
