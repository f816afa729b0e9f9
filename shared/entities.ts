// Character references of HTML (html.spec.whatwg.org, "Named character references"): all numeric ones, and the named ones that writers use.

// In the order of Unicode, from U+00A0 to U+00FF.
const latin =
  "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest " +
  "Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig " +
  "agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml";

// From U+0391; one letter is missing in each row of capitals, at U+03A2.
const greek =
  "Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho - Sigma Tau Upsilon Phi Chi Psi Omega - - - - - - - " +
  "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf sigma tau upsilon phi chi psi omega";

const others =
  "quot\" amp& lt< gt> apos' OEligŒ oeligœ ScaronŠ scaronš YumlŸ fnofƒ circˆ tilde˜ " +
  "ndash– mdash— lsquo‘ rsquo’ sbquo‚ ldquo“ rdquo” bdquo„ dagger† Dagger‡ bull• hellip… permil‰ prime′ Prime″ lsaquo‹ rsaquo› euro€ trade™ " +
  "larr← uarr↑ rarr→ darr↓ harr↔ minus− infin∞ ne≠ le≤ ge≥ asymp≈ radic√ star☆ starf★ check✓ spades♠ clubs♣ hearts♥ diams♦ " +
  "ensp\u2002 emsp\u2003 thinsp\u2009 zwnj\u200c zwj\u200d lrm\u200e rlm\u200f";

const row = (names: string, from: number): [string, string][] => names.split(" ").map((name, i) => [name, String.fromCharCode(from + i)]);
const named = new Map([
  ...row(latin, 0xa0),
  ...row(greek, 0x391),
  ...others.split(" ").map((each) => [each.slice(0, -1), each.slice(-1)] as const),
]);

/** Text of HTML with its character references resolved; what is none is left as it is. */
export const decoded = (text: string): string =>
  text.includes("&")
    ? text.replace(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z]\w{1,15}));/g, (whole, decimal, hex, name) =>
        name ? (named.get(name) ?? whole) : character(decimal ? Number(decimal) : Number.parseInt(hex, 16)),
      )
    : text;

const windows1252 = new TextDecoder("windows-1252");

function character(code: number): string {
  if (code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return "\ufffd";
  // As browsers do: writers who meant Windows' character set are understood.
  return code >= 0x80 && code <= 0x9f ? windows1252.decode(Uint8Array.of(code)) : String.fromCodePoint(code);
}
