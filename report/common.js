  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  // ---- Elements. Names from files become text, never markup.

  const isNothing = (value) => value === null || value === undefined;
  function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (!isNothing(value) && value !== false) node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.filter((child) => !isNothing(child)));
    return node;
  }
  const element = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
  const drawn = (name, attributes = {}, ...children) =>
    fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

  function button(text, act, label) {
    const made = element("button", { type: "button", "aria-label": label }, text);
    made.addEventListener("click", act);
    return made;
  }

  // ---- Words

  const number = (value) => (isNothing(value) ? "–" : String(Number(value.toPrecision(4))));
  const count = (value) => value.toLocaleString("en");
  const counted = (value, noun) => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
  const titled = (column) => column.name + (column.unit ? ` (${column.unit})` : "");

  // ---- Bytes in base64

  const bytesOf = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
