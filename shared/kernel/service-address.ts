// PUBLIC_URL: links, pages and webhook addresses are this address with a path behind it.

const addressRule =
  "must be the address at which recipients and providers reach this service, such as " +
  "https://mail.example.com";

export interface PublicUrl {
  /** Without a slash at its end. Undefined if the address is not usable. */
  url?: string;
  /** What is wrong with the address, to follow its name. */
  fault?: string;
}

export function readPublicUrl(given: string): PublicUrl {
  const url = URL.parse(given.trim());
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  if (!url || !isWeb) return { fault: addressRule };
  if (url.username || url.password) return { fault: "must have no user name and password" };
  if (given.includes("?")) return { fault: "must have no query (?)" };
  if (given.includes("#")) return { fault: "must have no fragment (#)" };
  if (!/^[\w.~/-]*$/.test(url.pathname)) return { fault: "has a path with unusual characters" };
  const host = url.host.replace(/\.(?=:|$)/, "");
  const path = url.pathname.replace(/\/{2,}/g, "/").replace(/\/$/, "");
  return { url: `${url.protocol}//${host}${path}` };
}
