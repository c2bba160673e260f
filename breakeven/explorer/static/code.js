// Each routine's instructions, with how often each ran at the size under the pointer and the cycles it held up.
function drawCode(place) {
  const at = viewSize(), found = new Map(), columns = make("div", { class: "columns" });
  place.replaceChildren(columns);
  const draw = () => columns.replaceChildren(...[...found].map(([name, routine]) => listingView(name, routine, `${routine.size ?? at} B`)));
  return ask("code", { size: at }, (line) => { found.set(line.routine, { ...(found.get(line.routine) || {}), ...line }); draw(); });
}
