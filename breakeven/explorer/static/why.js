// Where the cycles went at the size under the pointer.
function drawWhy(place) {
  const at = viewSize(), accounts = [], shownAccounts = make("div"), title = make("p", { class: "soft" });
  // The worker's calls (simulate.py).
  const calls = state.measure === "throughput" ? "what 16 calls more take in a row; the curve has those of one" : "less an empty call";
  const say = (size) => { title.textContent = `One measurement of ${size} B, ${calls}. Each cycle is charged to what held up the next instruction.`; };
  say(at);
  place.replaceChildren(title, shownAccounts);
  // A snapshot has some sizes only.
  return ask("account", { size: at }, (line) => { say(line.size); accounts.push(line); shownAccounts.replaceChildren(accountView(accounts)); });
}
