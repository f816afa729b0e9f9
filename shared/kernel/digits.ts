import * as z from "zod";

/** Accepts a number in a query as plain digits only. `1e1`, `0x10` and ` 5` are refused. */
export const digits = <T extends z.ZodType<number>>(number: T) =>
  z.preprocess(
    (value) => (typeof value === "string" && /^\d{1,16}$/.test(value) ? Number(value) : value),
    number,
  );

/** An id in a query. */
export const QueryId = digits(z.int().positive());

/** The site whose items a list returns. */
export const SiteFilter = QueryId.optional().describe(
  "Only items of this site. Defaults to the site of the API key, else to all sites of the " +
    "organization.",
);
