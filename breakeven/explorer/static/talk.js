// Questions to the server, answered line by line. A snapshot answers from what was saved in it.
const tab = Math.random().toString(36).slice(2);
const saved = data.saved || {};
const asked = {};

// `own`: of a routine of one's own; it stays until something is changed or built.
function trouble(text, own = false) {
  const place = byId("trouble");
  place.hidden = !text;
  place.textContent = text || "";
  trouble.own = own;
}

// Of lines that are of several sizes those of the nearest one.
function nearestSaved(lines, wanted) {
  const sizes = [...new Set(lines.map((line) => line.size).filter((at) => at !== undefined))];
  if (wanted === undefined || !sizes.length) return lines;
  const far = (at) => Math.abs(Math.log((at + 1) / (wanted + 1))), best = sizes.reduce((a, b) => (far(b) < far(a) ? b : a));
  return lines.filter((line) => line.size === undefined || line.size === best);
}

// Resolves to true when the last line came, to false when a newer question of this kind took its place.
async function ask(kind, question, onLine) {
  if (!data.live) {
    for (const line of nearestSaved(saved[kind] || [], question.size)) onLine(line);
    return Boolean(saved[kind]);
  }
  const number = (asked[kind] = (asked[kind] || 0) + 1), lines = [];
  try {
    const answer = await fetch("ask", { method: "POST", headers: { "X-Token": data.token, "Content-Type": "application/json" },
      body: JSON.stringify({ tab, kind, state, ...question }) });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (asked[kind] !== number) { reader.cancel(); return false; }
      if (done) break;
      const parts = (rest + value).split("\n");
      rest = parts.pop();
      for (const text of parts) {
        const line = JSON.parse(text);
        if (line.replaced) return false;
        if (line.error) {
          trouble(line.error);
          saved[kind] = [];
          if (kind === "curves") delete document.documentElement.dataset.busy;
          return false;
        }
        lines.push(line);
        onLine(line);
      }
    }
    if (!answer.ok) { trouble(`The server refused this (${answer.status}).`); return false; }
  } catch (error) {
    console.error(error);
    if (asked[kind] === number) trouble("The server is gone: start `breakeven explore` again, then open its new address.");
    return false;
  }
  saved[kind] = lines;
  if (kind !== "along") simulateAlong();
  return true;
}
