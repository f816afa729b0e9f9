// One operation of the service, as the generated table stores it.

/**
 * Method and path, then flags, then the name of the items if the operation is a list:
 * `POST /contacts bks`, `GET /contacts qsc contacts`. The flags:
 * `b` takes a body; `q` takes a query, after the body; `k` takes an Idempotency-Key; `s` has the
 * site as a field of its input; `u` must not be repeated; `c` and `p` have pages by cursor or by
 * number.
 */
type OperationText = string;

/** Operations by group and action. */
export type OperationTable = Record<string, Record<string, OperationText>>;

export interface Operation {
  /** `contacts.create` */
  name: string;
  method: string;
  /** Path after the base path, with parameters: /contacts/{id} */
  path: string;
  parameters: string[];
  itemsName: string | undefined;
  has(flag: "b" | "q" | "k" | "s" | "u" | "c" | "p"): boolean;
}

export function parseOperation(name: string, text: OperationText): Operation {
  const [method = "", path = "", flags = "", itemsName] = text.split(" ");
  return {
    name,
    method,
    path,
    parameters: [...path.matchAll(/{(\w+)}/g)].map(([, parameter = ""]) => parameter),
    itemsName,
    has: (flag) => flags.includes(flag),
  };
}
