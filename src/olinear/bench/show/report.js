// A click on a heading sorts its table; a second one the other way round. Empty cells stay last.
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((heading, place) => {
    const button = document.createElement("button");
    button.textContent = heading.textContent;
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      const rising = heading.getAttribute("aria-sort") !== "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", rising ? "ascending" : "descending");
      const numeric = heading.classList.contains("number");
      const text = (row) => row.cells[place].textContent;
      const compare = (a, b) => (numeric ? text(a) - text(b) : text(a).localeCompare(text(b)));
      const rows = [...body.rows].sort((a, b) => {
        if (!text(a) || !text(b)) return !text(a) - !text(b);
        return rising ? compare(a, b) : compare(b, a);
      });
      body.append(...rows);
    });
  });
}
