// The id of a record as a UUID, for clients that parse ids as such: the digits of the number, where
// version and variant leave room for them.

/** `1001` is `00000000-0000-4000-8000-000000001001`. */
export function toUuid(id: number): string {
  const digits = String(id).padStart(18, "0");
  const [first, second, third] = [digits.slice(0, 3), digits.slice(3, 6), digits.slice(6)];
  return `00000000-0000-4${first}-8${second}-${third}`;
}

/** The digits of the number. Undefined if `toUuid` does not make such a UUID. */
export const digitsOfUuid = (uuid: string): string | undefined => {
  const groups = /^00000000-0000-4(\d{3})-8(\d{3})-(\d{12})$/.exec(uuid);
  return groups?.slice(1).join("").replace(/^0+/, "");
};
