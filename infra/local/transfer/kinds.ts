// The kinds of records in an export, and the request that creates each of them on another
// installation.
import type { Fields, Row } from "./files.ts";

/** Returns the id on the other installation, or undefined if the record does not exist there. */
export type NewId = (kind: KindName, id: number) => number | undefined;

export interface Kind {
  /** The name of the file and of the path in the API. */
  name: KindName;
  /** The field of a list response that holds the records. */
  listed: string;
  /** The list has the records of one site, and no pages. */
  bySite?: true;
  /** The list omits fields that only GET by id returns. */
  detailed?: true;
  /** Fields that the import copies unchanged. */
  copied: string[];
  /** Fields that contain the id of another record. */
  references?: Record<string, KindName>;
  /** Fields with the ids of several other records. */
  manyReferences?: Record<string, KindName>;
  /** Fields of the request that creates the record. They can never change. */
  fixedFields?: string[];
  /** `uses` of a record names others of its kind, which have to exist before it. */
  usesOwnKind?: true;
  /** Fields that the import sets only after it has created the record. */
  onlyNew?: string[];
  /** The API has no endpoint to change it. */
  fixed?: true;
}

export type KindName =
  | "sites"
  | "sending-configs"
  | "topics"
  | "tags"
  | "lists"
  | "template-folders"
  | "snippets"
  | "templates"
  | "forms"
  | "segments"
  | "sequences"
  | "campaigns";

/**
 * In the order of the import: a record follows the records that it refers to. Forms and segments
 * are an exception, so the import updates them again at the end.
 */
export const kinds: Kind[] = [
  {
    name: "sites",
    listed: "sites",
    copied: [
      "name",
      "domain",
      "autoBcc",
      "replyTo",
      "sendFrequencyCapDays",
      "companyName",
      "physicalAddress",
      "softBounceLimit",
      "brand",
    ],
  },
  {
    name: "topics",
    listed: "topics",
    bySite: true,
    copied: ["name", "description", "visibility"],
    fixedFields: ["defaultSubscription"],
  },
  { name: "tags", listed: "tags", copied: ["name"], fixed: true },
  { name: "lists", listed: "lists", copied: ["name", "description"] },
  { name: "template-folders", listed: "templateFolders", copied: ["name"], fixed: true },
  {
    name: "snippets",
    listed: "snippets",
    detailed: true,
    copied: ["html", "text", "designJson"],
    fixedFields: ["name"],
    usesOwnKind: true,
  },
  {
    name: "templates",
    listed: "templates",
    detailed: true,
    copied: [
      ...["name", "subject", "previewText", "html", "text", "designJson"],
      ...["locale", "translations"],
    ],
    references: { folderId: "template-folders" },
  },
  {
    name: "forms",
    listed: "forms",
    detailed: true,
    copied: ["name", "tags", "doubleOptIn", "redirectUrl", "designJson"],
    references: { listId: "lists", sequenceId: "sequences" },
    manyReferences: { topicIds: "topics" },
    onlyNew: ["status"],
  },
  { name: "segments", listed: "segments", copied: ["name", "description", "rules"] },
  {
    name: "sequences",
    listed: "sequences",
    copied: [
      ...["name", "triggerType", "triggerConfig", "autoBcc", "utm", "sendWindow"],
      ...["goals", "exits", "fromEmail", "fromName", "replyTo"],
    ],
    references: { sendingConfigId: "sending-configs", topicId: "topics" },
  },
  {
    name: "campaigns",
    listed: "campaigns",
    copied: [
      ...["name", "subject", "previewText", "utm", "abTest", "conversion", "holdOutPercent"],
      ...["fromEmail", "fromName", "replyTo"],
      ...["headers", "variables", "feedUrl", "purpose"],
    ],
    references: {
      templateId: "templates",
      listId: "lists",
      tagId: "tags",
      segmentId: "segments",
      sendingConfigId: "sending-configs",
      topicId: "topics",
    },
  },
];

export const kindNamed = (name: KindName): Kind => kinds.find((kind) => kind.name === name)!;

/**
 * The fields of a record with the ids of the other installation. A reference to a missing record
 * becomes null.
 */
export function fieldsOf(
  { copied, references = {}, manyReferences = {} }: Kind,
  row: Row,
  newId: NewId,
): Fields {
  const referToMany = (name: string, kind: KindName) => {
    const ids = row[name] as number[] | undefined;
    return ids ? [[name, ids.flatMap((id) => newId(kind, id) ?? [])]] : [];
  };
  const refer = (name: string, kind: KindName) => {
    const id = row[name];
    return [name, typeof id === "number" ? (newId(kind, id) ?? null) : null];
  };
  return {
    ...Object.fromEntries(
      copied
        .filter((name) => row[name] !== undefined)
        .map((name) => [name, translated(name, row[name], newId)]),
    ),
    ...Object.fromEntries(Object.entries(references).map(([name, kind]) => refer(name, kind))),
    ...Object.fromEntries(
      Object.entries(manyReferences).flatMap(([name, kind]) => referToMany(name, kind)),
    ),
  };
}

const triggerReferences: Record<string, KindName> = {
  tagId: "tags",
  listId: "lists",
  formId: "forms",
  segmentId: "segments",
};
/** Records that are copied later, or not at all. */
const lostReferences = ["campaignId", "sequenceId", "stepId"];

function translated(name: string, value: unknown, newId: NewId): unknown {
  if (name === "rules") return rulesWith(value, newId);
  if (name === "goals" || name === "exits")
    return (value as Fields[]).map((one) => withRules(one, newId));
  if (name !== "triggerConfig" || typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !lostReferences.includes(key))
      .map(([key, one]) => {
        if (key === "filter") return [key, rulesWith(one, newId)];
        const kind = triggerReferences[key];
        return [key, kind ? (newId(kind, Number(one)) ?? one) : one];
      }),
  );
}

/** A goal, an exit or a wait, with the ids of the other installation in its rules. */
export const withRules = (given: Fields, newId: NewId): Fields => ({
  ...given,
  ...(given.filter ? { filter: rulesWith(given.filter, newId) } : {}),
  ...(given.rules ? { rules: rulesWith(given.rules, newId) } : {}),
});

const actionReferences: Record<string, KindName> = {
  tagId: "tags",
  listId: "lists",
  topicId: "topics",
  sequenceId: "sequences",
};

/** The action of a step, or null if the record that it names is not copied. */
export function actionWith(config: unknown, newId: NewId): Fields | null {
  if (typeof config !== "object" || config === null) return null;
  // Members of the other installation are others.
  const { memberIds: _, ...copied } = config as Fields;
  const entries = Object.entries(copied).map(([key, value]) => {
    const kind = actionReferences[key];
    return [key, kind ? newId(kind, Number(value)) : value] as const;
  });
  return entries.some(([, value]) => value === undefined) ? null : Object.fromEntries(entries);
}

const ruleReferences: Record<string, KindName> = {
  tag: "tags",
  tags: "tags",
  list: "lists",
  lists: "lists",
  siteId: "sites",
};

/** The rules of a segment or condition with the ids of the other installation. */
export function rulesWith(node: unknown, newId: NewId): unknown {
  if (typeof node !== "object" || node === null) return node;
  const { conditions, field, value, ...rest } = node as Fields;
  if (Array.isArray(conditions))
    return { ...rest, conditions: conditions.map((one) => rulesWith(one, newId)) };
  const kind = ruleReferences[String(field)];
  const idOf = (one: unknown) =>
    kind && typeof one === "number" ? (newId(kind, one) ?? one) : one;
  const mapped = Array.isArray(value) ? value.map(idOf) : idOf(value);
  return {
    ...rest,
    field: fieldWith(String(field), newId),
    ...(value !== undefined && { value: mapped }),
  };
}

/** Replaces the id in `form.7`, `topic.7` and `campaign.7.opened`. */
function fieldWith(field: string, newId: NewId): string {
  const [what = "", id = "", ...rest] = field.split(".");
  const kind = ({ form: "forms", topic: "topics", campaign: "campaigns" } as const)[what];
  return kind ? [what, newId(kind, Number(id)) ?? id, ...rest].join(".") : field;
}
