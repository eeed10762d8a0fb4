// What the page is made of. Text goes in as text; there is no way to markup.

// el makes an element. Properties that are functions listen to the event of their
// name, false and undefined are left out, everything else is an attribute.
export function el(name, properties = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (typeof value === "function") node.addEventListener(key, value);
    else if (value !== false && value !== undefined) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== undefined && child !== ""));
  return node;
}

// said shows words of an agent: between marks that the server lets no agent write,
// and apart from the order of the text around them.
export function said(text, name = "bdi") {
  return el(name, { class: "said" }, `‹${text}›`);
}

// byId is an element of index.html.
export function byId(id) {
  return document.getElementById(id);
}

// show shows or hides an element.
export function show(node, visible) {
  node.hidden = !visible;
}
