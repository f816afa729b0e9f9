// Names of users and API keys, read when the logs are shown, so that the logs hold only ids.
import { getMany } from "../../adapters/dynamodb/table.ts";
import { keys } from "../../keys.ts";
import type { AuditActor } from "./entries.ts";

type NamedActor = Pick<AuditActor, "type" | "id">;

/**
 * Returns a function that gives the email address of a user and the name of an API key. Null for
 * revoked keys and for actors without an id. Users who left keep their address.
 */
export async function findActorNames(
  orgId: number,
  actors: NamedActor[],
): Promise<(actor: NamedActor) => string | null> {
  const idsOf = (type: NamedActor["type"]): number[] => [
    ...new Set(actors.flatMap((actor) => (actor.type === type && actor.id ? [actor.id] : []))),
  ];
  const [userIds, keyIds] = [idsOf("user"), idsOf("api_key")];
  const [users, apiKeys] = await Promise.all([
    getMany<{ email: string }>(userIds.map((id) => keys.member(orgId, id))),
    getMany<{ name: string }>(keyIds.map((id) => keys.record(orgId, "APIKEY", id))),
  ]);
  const emails = new Map(userIds.map((id, i) => [id, users[i]?.email]));
  const keyNames = new Map(keyIds.map((id, i) => [id, apiKeys[i]?.name]));
  return ({ type, id }) => {
    if (id === null) return null;
    if (type === "user") return emails.get(id) ?? null;
    return type === "api_key" ? (keyNames.get(id) ?? null) : null;
  };
}
