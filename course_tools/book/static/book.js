/* What HTML alone cannot do: open all answers, show and scroll what is wide, name the theme's side bars, and the like. */
"use strict";

const KEY = "course-book-answers";

function remembered() {
  try { return localStorage.getItem(KEY) === "open"; } catch { return false; }
}

function remember(open) {
  try { localStorage.setItem(KEY, open ? "open" : "closed"); } catch { /* a browser without storage forgets */ }
}

function answersButton() {
  const answers = [...document.querySelectorAll("details.answer")];
  const facts = document.querySelector("article .facts");
  if (!answers.length || !facts) return;
  const button = document.createElement("button");
  button.className = "show-answers";
  const set = (open) => {
    answers.forEach((answer) => { answer.open = open; });
    button.setAttribute("aria-pressed", String(open));
    button.textContent = open ? "Fold all answers" : `Show all ${answers.length} answers`;
  };
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-pressed") !== "true";
    set(open);
    remember(open);
  });
  set(remembered());
  facts.after(button);
}

/* Code and outputs wrap. Each line is an element of its own, so that what goes on begins under the line's first or
   second cell; but a printed table of three rows or more keeps them whole, and scrolls. */
function wrapLines() {
  for (const pre of document.querySelectorAll(".cell_input pre, .cell_output pre, .highlight-text pre")) {
    const texts = pre.textContent.split("\n");
    const parts = pre.innerHTML.split("\n");
    if (parts.length !== texts.length || !parts.every(isWhole)) continue;
    const code = pre.closest(".cell_input") !== null;
    const widest = code || pre.closest(".traceback") ? 0 : widthOfTable(texts);
    if (parts.at(-1) === "") parts.pop();
    pre.innerHTML = parts.map((part, n) => {
      const kind = texts[n].length <= widest ? "line row" : "line";
      const far = part.replace(/^((?:<[^>]*>)* {16})( +)/, '$1<span class="far">$2</span>');
      return `<span class="${kind}" style="--indent: ${goesOnAt(texts[n], code)}">${far}\n</span>`;
    }).join("");
    pre.classList.toggle("columns", widest > 0);
  }
}

/* The longest row: three cells or more, two spaces or more between them, or two cells where no line is long. 0: no table. */
function widthOfTable(texts) {
  const least = texts.every((text) => text.length <= 72) ? 2 : 3;
  const rows = texts.filter((text) => text.length <= 130 && text.trim().split(/ {2,}/).length >= least);
  return rows.length > 2 ? Math.max(...rows.map((row) => row.length)) : 0;
}

/* Letters from the left: under the second cell of an output's line, if that is near, else two after the first. */
function goesOnAt(text, code) {
  const [label] = text.match(/^ *\S+(?: \S+)* {2,}(?=\S)/) || [""];
  if (!code && label && label.length <= 24) return label.length;
  return Math.min(text.search(/\S|$/), 16) + 2;
}

/* Does a piece of HTML close what it opens? */
function isWhole(part) {
  return (part.match(/<(?!\/)/g) || []).length === (part.match(/<\//g) || []).length;
}

/* The benches' diagrams stand in paragraphs of their own. */
function widePictures() {
  document.querySelectorAll("p > img.drawn:only-child").forEach((picture) => picture.parentElement.classList.add("wide-picture"));
}

/* A stepper's picture gets no smaller than can be read: its smallest letters keep nine pixels. */
function widthOfSteppers() {
  for (const svg of document.querySelectorAll(".course-stepper .stage svg")) {
    const letters = [...svg.querySelectorAll("text")].map((text) => Number(text.getAttribute("font-size")));
    svg.style.setProperty("--least", `${Math.round(svg.viewBox.baseVal.width * Math.min(1, 9 / Math.min(14, ...letters)))}px`);
  }
}

/* A reader without a mouse must be able to scroll what is too wide; what fits is no stop for the Tab key. */
function scrollersTakeFocus() {
  const wide = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  document.querySelectorAll("article pre, div.math, .math-wrapper, .table-wrapper, .cell_output figure, .course-stepper .stage, .wide-picture")
    .forEach((element) => wide.observe(element));
}

/* A text in a table needs a width. */
function wrapText() {
  for (const cell of document.querySelectorAll("article table.docutils td")) {
    const letters = cell.textContent.trim().length;
    cell.style.setProperty("--letters", letters > 45 ? 40 : Math.min(letters, 20));
    cell.classList.toggle("words", letters > 30);
    cell.classList.toggle("short", letters <= 10);
  }
  // A table that is only a little too wide fits when its texts get less
  for (const box of document.querySelectorAll(".table-wrapper"))
    box.classList.toggle("tight", box.scrollWidth > box.clientWidth && box.scrollWidth < 1.3 * box.clientWidth);
}

/* The name of a module may break after its dots. */
function breakNames() {
  for (const title of document.querySelectorAll("h1, .related-pages .title")) {
    const name = title.firstChild;
    if (!/^\w+(\.\w+)+$/.test(name.data || "")) continue;
    name.replaceWith(...name.data.split(/(?<=\.)/).flatMap((part, n) => (n ? [document.createElement("wbr"), part] : [part])));
  }
}

/* The excerpts of a search show a page's text, not its title and facts once more. */
function excerptsOfText() {
  if (typeof Search === "undefined") return;
  const text = Search.htmlToText;
  const head = /<h1>.*?<\/h1>|<div class="facts[^>]*>.*?<\/div>/gs;
  Search.htmlToText = (html, anchor) => text(html.replace(head, ""), anchor);
}

/* A page that was opened from disk may not read the others: then results have no excerpts, and the page says why. */
function noExcerptsFromDisk() {
  const results = document.getElementById("search-results");
  if (!results || location.protocol !== "file:") return;
  const note = document.createElement("p");
  note.className = "from-disk";
  note.textContent = "Results without excerpts: a browser lets no page that was opened from disk read the others. " +
    "A web server shows them: course book --serve, or python3 -m http.server in the book's folder.";
  results.before(note);
}

/* A word of the glossary shows what it means where the mouse or the focus is; Escape puts that away. */
function explainTerms() {
  const links = [...document.querySelectorAll("a.term[title]")];
  if (!links.length) return;
  const box = document.createElement("div");
  Object.assign(box, { id: "term-says", hidden: true });
  box.setAttribute("role", "tooltip");
  document.querySelector("article").append(box);
  let going;
  const stay = () => clearTimeout(going);
  const go = () => { stay(); going = setTimeout(() => { box.hidden = true; }, 200); };
  for (const link of links) {
    const says = link.title;
    link.removeAttribute("title");
    const show = () => {
      stay();
      box.textContent = says;
      box.hidden = false;
      link.setAttribute("aria-describedby", box.id);
      placeBelow(box, link);
    };
    for (const event of ["mouseenter", "focus"]) link.addEventListener(event, show);
    for (const event of ["mouseleave", "blur"]) link.addEventListener(event, go);
  }
  box.addEventListener("mouseenter", stay);
  box.addEventListener("mouseleave", go);
  addEventListener("keydown", (event) => { if (event.key === "Escape") box.hidden = true; });
}

/* Within the column of the text, whatever the word's place. */
function placeBelow(box, link) {
  const { left, bottom } = link.getBoundingClientRect();
  const home = box.offsetParent.getBoundingClientRect();
  const text = box.parentElement.getBoundingClientRect();
  box.style.left = `${Math.max(text.left, Math.min(left, text.right - box.offsetWidth)) - home.left}px`;
  box.style.top = `${bottom + 4 - home.top}px`;
}

/* Code to take along: a button shows where the mouse or the focus is. */
function copyButtons() {
  if (!navigator.clipboard) return;
  for (const code of document.querySelectorAll(".cell_input pre")) {
    const made = document.createElement("button");
    made.className = "copy-code";
    made.textContent = "Copy code";
    made.addEventListener("click", async () => {
      await navigator.clipboard.writeText(code.textContent.trimEnd());
      made.textContent = "Copied";
      setTimeout(() => { made.textContent = "Copy code"; }, 2000);
    });
    code.after(made);
  }
}

/* On a narrow window the theme opens its side bars by labels of hidden checkboxes, out of the keyboard's reach. */
function drawersByKeyboard() {
  for (const [name, words] of [["__navigation", "Pages of the book"], ["__toc", "On this page"]]) {
    const box = document.getElementById(name);
    if (!box) continue;
    const buttons = [...document.querySelectorAll(`label[for=${name}]:not(.overlay)`)].map((label) => button(label, words));
    const tell = () => buttons.forEach((one) => one.setAttribute("aria-expanded", String(box.checked)));
    const flip = (open) => { box.checked = open; tell(); };
    buttons.forEach((one) => one.addEventListener("click", () => flip(!box.checked)));
    box.addEventListener("change", tell);
    addEventListener("keydown", (event) => { if (event.key === "Escape" && box.checked) flip(false); });
    tell();
  }
}

function button(label, words) {
  const made = document.createElement("button");
  made.className = `${label.className} drawer-button`;
  made.setAttribute("aria-label", words);
  made.append(...label.childNodes);
  label.replaceWith(made);
  return made;
}

function nameSideBars() {
  document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "Pages of the book");
  document.querySelector(".toc-drawer")?.setAttribute("aria-label", "On this page");
  const words = new URLSearchParams(location.search).get("q");
  const field = document.getElementById("search-again");
  if (field && words) field.value = words;
}

/* On paper there is nothing to click. */
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((fold) => { fold.open = true; }));
addEventListener("DOMContentLoaded", excerptsOfText);
answersButton();
wrapText();
wrapLines();
breakNames();
widePictures();
widthOfSteppers();
scrollersTakeFocus();
noExcerptsFromDisk();
explainTerms();
copyButtons();
nameSideBars();
drawersByKeyboard();
