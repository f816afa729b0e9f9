// Chunks store only the variables of a contact whose name occurs in the mail.
import type { LiquidSources } from "./mail-content.ts";

type Variables = Record<string, unknown>;
export type VariableFilter = (variables: Variables) => Variables;

/** Templates that read variables by computed names, or all custom fields at once. */
const computedNames = /\{[{%][^{}%]*\[|customfields(?!\.)|customfields\.(size|first|last)/;

/**
 * For mails that are rendered later from any of these sources. Letter case does not matter. A name
 * that occurs outside of Liquid keeps its variable too.
 */
export function createVariableFilter(mails: LiquidSources[]): VariableFilter {
  const source = mails
    .map(({ subject, html, text, snippets = {} }) =>
      [subject, html, text, ...Object.values(snippets).flatMap(Object.values)].join("\n"),
    )
    .join("\n")
    .toLowerCase();
  if (computedNames.test(source)) return (variables) => variables;
  const kept = new Map<string, boolean>();
  const isKept = (name: string): boolean => {
    const known = kept.get(name) ?? source.includes(name.toLowerCase());
    kept.set(name, known);
    return known;
  };
  const pick = (variables: Variables): Variables =>
    Object.fromEntries(Object.entries(variables).filter(([name]) => isKept(name)));
  return ({ customFields, ...variables }) => {
    const fields = pick((customFields ?? {}) as Variables);
    return { ...pick(variables), ...(Object.keys(fields).length && { customFields: fields }) };
  };
}
