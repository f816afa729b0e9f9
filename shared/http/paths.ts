// Path patterns in API Gateway's syntax: /api/v1/sites/{id}, /api/v1/sites/{proxy+}.

/**
 * Returns a function that reads the parameters of a path, undecoded. It returns undefined for a
 * path that does not match.
 */
export function pathParser(pattern: string): (path: string) => Record<string, string> | undefined {
  const names = [...pattern.matchAll(/{(\w+)\+?}/g)].map(([, name]) => name!);
  const shape = pattern
    .replace(/[.]/g, "\\.")
    .replace(/{\w+\+}/g, "(.+)")
    .replace(/{\w+}/g, "([^/]+)");
  const expression = new RegExp(`^${shape}$`);
  return (path) => {
    const values = expression.exec(path)?.slice(1);
    return values && Object.fromEntries(names.map((name, i) => [name, values[i]!]));
  };
}

/**
 * Sorts like the precedence of API Gateway: from the left, literal segments, then parameters, then
 * `{proxy+}`.
 */
export function compareSpecificity(a: string, b: string): number {
  const rank = (path: string) => path.replace(/{\w+\+}/g, "\uffff").replace(/{\w+}/g, "\ufffe");
  return rank(a) < rank(b) ? -1 : 1;
}

/**
 * Whether a parameter is text, such as an email address. Text may be percent-encoded, and only the
 * gateway can decode it: in the
 * `rawPath` from AWS, `%2F` is already a slash. Ids are plain digits.
 */
export const hasTextParameter = (pattern: string): boolean =>
  [...pattern.matchAll(/{(\w+)}/g)].some(([, name]) => !/^id$|Id$/.test(name!));
