// Where the cycles went at the size under the pointer.
function drawWhy(place) {
  const at = viewSize(), accounts = [], shownAccounts = make("div");
  place.replaceChildren(make("p", { class: "soft" }, `One measurement of ${at} B, with the empty call around it. Each cycle is charged to what held up the next instruction.`), shownAccounts);
  return ask("account", { size: at }, (line) => { accounts.push(line); shownAccounts.replaceChildren(accountView(accounts)); });
}
