// The route: the part of the address after "#", such as #/tickets/ID?state=open.

const VIEWS = ["tickets", "threads", "load", "health", "unanswered", "insights"];

/** @returns {{view: string, id: string | null, params: URLSearchParams}} */
export function here() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [view, id] = path.split("/");
  return {
    view: VIEWS.includes(view) ? view : VIEWS[0],
    id: id ? readable(id) : null,
    params: new URLSearchParams(query),
  };
}

/** Return the address of a view, of one item in it, with these filters. */
export function link(view, id = null, params = new URLSearchParams()) {
  const tail = params.size ? `?${params}` : "";
  return `#/${view}${id ? `/${encodeURIComponent(id)}` : ""}${tail}`;
}

/** Replace the current address: filters are no steps in the history. */
export function replace(address) {
  history.replaceState(null, "", address);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

function readable(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
