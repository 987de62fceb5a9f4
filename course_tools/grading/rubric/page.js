"use strict";
// Keys of the page, what they enter, and the CSV that comes out. Nothing leaves this page but by "s".
const sections = [...document.querySelectorAll("section")];
const place = "words " + sections.map((one) => one.dataset.code).sort().join(" ").slice(0, 400);
let now = 0;

function criteria(section) {
  return [...section.querySelectorAll(".criterion")];
}

function points(one) {
  return one.dataset.points || "";
}

function give(one, value) {
  one.dataset.points = value;
  one.querySelector("output").textContent = value === "" ? "\u2013" : value;
}

function rows() {
  return sections.flatMap((section) => criteria(section).map((one) => [
    section.dataset.code, section.dataset.question, one.dataset.name, points(one), one.querySelector("input").value,
  ]));
}

function keep() {
  try {
    localStorage.setItem(place, JSON.stringify(rows()));
  } catch { /* without a store the CSV is what keeps it */ }
  const done = sections.filter((section) => criteria(section).every((one) => points(one) !== ""));
  document.getElementById("progress").textContent = `${done.length} of ${sections.length} answers graded`;
}

function recall() {
  let kept = [];
  try {
    kept = JSON.parse(localStorage.getItem(place)) || [];
  } catch { /* as above */ }
  const known = new Map(kept.map((row) => [row.slice(0, 3).join("\n"), row]));
  for (const section of sections) {
    for (const one of criteria(section)) {
      const row = known.get([section.dataset.code, section.dataset.question, one.dataset.name].join("\n"));
      if (row) {
        give(one, row[3]);
        one.querySelector("input").value = row[4];
      }
    }
  }
}

function show(number) {
  if (!sections.length) return;
  now = Math.min(Math.max(number, 0), sections.length - 1);
  sections.forEach((one, i) => { one.hidden = i !== now; });
  criteria(sections[now])[0].focus();
  window.scrollTo(0, 0);
}

function cell(text) {
  return `"${String(text).replaceAll('"', '""')}"`;
}

function save() {
  const head = [["Answer", "Question", "Criterion", "Points", "Comment"]];
  const text = "\ufeff" + [...head, ...rows()].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = "words.csv";
  link.click();
}

function comment(one, text) {
  const field = one.querySelector("input");
  const parts = field.value.split("; ").filter(Boolean);
  field.value = (parts.includes(text) ? parts.filter((part) => part !== text) : [...parts, text]).join("; ");
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const one = document.activeElement.closest(".criterion");
  const inField = document.activeElement.tagName === "INPUT";
  if (inField) {
    if (event.key === "Escape" || event.key === "Enter") { event.preventDefault(); one.focus(); keep(); }
    return;
  }
  if (event.key === "n") show(now + 1);
  else if (event.key === "p") show(now - 1);
  else if (event.key === "s") save();
  else if (one && event.key === "x") give(one, "");
  else if (one && event.key === "Enter") { event.preventDefault(); one.querySelector("input").focus(); }
  else if (one && /^[0-9]$/.test(event.key)) {
    if (Number(event.key) <= Number(one.dataset.most)) give(one, event.key);
  } else if (one && one.querySelector(`[data-key="${CSS.escape(event.key)}"]`)) {
    comment(one, one.querySelector(`[data-key="${CSS.escape(event.key)}"]`).textContent);
  }
  keep();
});
document.addEventListener("change", keep);
recall();
show(0);
keep();
