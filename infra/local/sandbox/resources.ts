// What accounts have created at the sandbox providers by their APIs: webhooks, domains, topics.
import { readFileSync } from "node:fs";
import { writeAtomically } from "./root-keys.ts";

/** The resources of one account. */
export interface AccountResources {
  list<T>(kind: string): T[];
  get<T>(kind: string, id: string | number): T | undefined;
  put(kind: string, id: string | number, value: object): void;
  /** Returns false if there is none with this id. */
  remove(kind: string, id: string | number): boolean;
  /** A number that no resource of the account has had. */
  nextId(): number;
}

export type SandboxResources = ReturnType<typeof openResources>;

/** Without `file`, a restart loses them. */
export function openResources(file?: string) {
  const values = new Map<string, object>(file ? readEntries(file) : []);
  const save = () => file && writeAtomically(file, JSON.stringify([...values]));
  return {
    of(provider: string, account: string): AccountResources {
      const prefix = `${provider} ${account} `;
      const keyOf = (kind: string, id: string | number) => `${prefix}${kind} ${id}`;
      return {
        list: <T>(kind: string) =>
          [...values].flatMap(([key, value]) =>
            key.startsWith(`${prefix}${kind} `) ? [value as T] : [],
          ),
        get: <T>(kind: string, id: string | number) => values.get(keyOf(kind, id)) as T | undefined,
        put(kind, id, value) {
          values.set(keyOf(kind, id), value);
          save();
        },
        remove(kind, id) {
          const existed = values.delete(keyOf(kind, id));
          save();
          return existed;
        },
        nextId() {
          const key = keyOf("counter", "id");
          const { last = 0 } = (values.get(key) ?? {}) as { last?: number };
          values.set(key, { last: last + 1 });
          return last + 1;
        },
      };
    },
  };
}

function readEntries(file: string): [string, object][] {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as [string, object][];
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return [];
    throw error;
  }
}
