// Where the cycles went at the size under the pointer: one bar a routine, as long as its time.
const GROUP_COLOURS = { retiring: "var(--w0)", "front end": "var(--w1)", "bad speculation": "var(--w2)", memory: "var(--w3)", execution: "var(--w4)", other: "var(--w5)" };

function drawWhy(place) {
  const at = viewSize(), accounts = [], bars = make("div", { class: "bars" }), tables = make("div");
  place.replaceChildren(make("p", { class: "soft" }, `One measurement of ${at} B, with the empty call around it. Each cycle is charged to what held up the next instruction.`), bars, tables);
  const draw = () => {
    const longest = Math.max(...accounts.map((account) => account.cycles));
    bars.replaceChildren(...accounts.map((account) => make("div", { class: "bar-row" },
      make("div", { class: "who" }, account.routine, make("small", {}, ` ${account.cycles} cycles, ${account.instructions} instructions (${shown(Number((account.instructions / account.cycles).toFixed(2)))} a cycle)`)),
      make("div", { class: "stack", style: `width:${(100 * account.cycles) / longest}%` }, account.account.filter((line) => !line.reason && line.percent > 0).map((line) =>
        make("span", { style: `width:${line.percent}%;background:${GROUP_COLOURS[line.group] || GROUP_COLOURS.other}`, title: `${line.group}: ${line.cycles.toFixed(1)} cycles, ${line.percent.toFixed(1)} %` },
          line.percent > 9 ? line.group : ""))))));
    const keys = [...new Map(accounts.flatMap((account) => account.account).map((line) => [`${line.group}/${line.reason || ""}`, line])).values()];
    const groups = Object.keys(GROUP_COLOURS);
    keys.sort((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group) || (a.reason ? 1 : 0) - (b.reason ? 1 : 0));
    tables.replaceChildren(make("div", { class: "wide" }, make("table", {}, make("thead", {}, make("tr", {}, make("th", {}, "cycles"), accounts.map((account) => make("th", {}, account.routine)))),
      make("tbody", {}, keys.map((key) => make("tr", { class: key.reason ? "inner" : "" },
        make("td", {}, key.reason ? "" : make("i", { class: "swatch", style: `background:${GROUP_COLOURS[key.group] || GROUP_COLOURS.other}` }), key.reason ? REASONS[key.reason] || key.reason : key.group),
        accounts.map((account) => {
          const line = account.account.find((other) => other.group === key.group && (other.reason || "") === (key.reason || ""));
          return make("td", { class: "number" }, line ? `${line.cycles.toFixed(1)}` : "");
        })))))));
  };
  return ask("account", { size: at }, (line) => { accounts.push(line); draw(); });
}

const REASONS = { frontEnd: "fetch and decode", fetchCache: "instruction cache", fetchTlb: "instruction TLB", badSpeculation: "mispredicted branches, flushes", replay: "memory-order replays",
  level1: "first-level cache", level2: "second-level cache", level3: "third-level cache", memory: "main memory", tlbWalk: "page walks", split: "line and page crossings", forwardFail: "failed forwarding",
  storeQueue: "store queue", execution: "latency", unit: "units taken", serialize: "serialising instructions, traps" };
