// Each routine's instructions, with how often each ran at the size under the pointer and the cycles it held up.
function drawCode(place) {
  const at = viewSize(), found = new Map(), columns = make("div", { class: "columns" });
  place.replaceChildren(columns);
  const draw = () => columns.replaceChildren(...[...found].map(([name, routine]) => {
    const cycles = routine.by_address, most = cycles ? Math.max(1, ...Object.values(cycles).map(([, held]) => held)) : 1;
    const note = routine.no_cycles ? `No cycles per instruction: ${routine.no_cycles}.` : cycles ? `${at} B: times run, cycles for which each held up retirement${routine.whole ? "" : " (the trace is cut)"}.` : "";
    return make("div", {}, make("h3", {}, name), routine.text ? make("p", { class: "soft" }, routine.text) : null,
      routine.published && routine.published.length ? make("p", { class: "soft" }, `Published: ${routine.published.join("; ")}`) : null,
      note ? make("p", { class: "soft" }, note) : null,
      make("div", { class: "listing", tabindex: 0, role: "region", "aria-label": `listing of ${name}` }, make("table", {}, make("tbody", {}, routine.listing.map(([address, text]) => {
        const ran = cycles && cycles[`0x${address.toString(16)}`];
        return make("tr", ran ? {} : { class: cycles ? "unrun" : "" }, make("td", { class: "address" }, address.toString(16)),
          cycles ? make("td", { class: "number" }, ran ? `${ran[0]}×` : "") : null,
          cycles ? make("td", { class: "number heat", style: ran ? `--heat:${Math.round((100 * ran[1]) / most)}%` : "" }, ran ? String(ran[1]) : "") : null,
          make("td", { class: "text" }, text));
      })))));
  }));
  return ask("code", { size: at }, (line) => { found.set(line.routine, { ...(found.get(line.routine) || {}), ...line }); draw(); });
}
