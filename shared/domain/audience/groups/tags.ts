// Applies tags to contacts and removes them. A tag starts sequences and earns points, in the
// transaction of its membership.
import { write } from "../../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../../caller.ts";
import { now } from "../../../clock.ts";
import type { ContactItem } from "../contacts/contact-schema.ts";
import * as contacts from "../contacts/contacts.ts";
import { contactReactions } from "../contacts/reactions.ts";
import { scoreLogWrite } from "../scoring/lead-scores.ts";
import { causeOf, matchRules } from "../scoring/scoring.ts";
import { getSiteRules, type ScoringRule } from "../scoring/scoring-rules.ts";
import type { Group } from "./groups.ts";
import { addMembersWrites, removeMembersWrites } from "./membership-writes.ts";

type Tag = Pick<Group, "id" | "name" | "starts">;

// A transaction takes 100 writes; the contact, its membership and the count take three.
const maxOtherWrites = 97;

/** Idempotent. Returns whether the contact did not have the tag before. */
export const applyTag = (caller: CallerScope, contactId: number, tag: Tag): Promise<boolean> =>
  contacts.changeWithRetry(caller, { id: contactId }, async (contact) => {
    if (contact.tags?.has(tag.id)) return false;
    const rules = await findRules(contact, tag);
    const points = rules.reduce((sum, rule) => sum + rule.points, 0);
    const after = {
      ...contact,
      tags: new Set([...(contact.tags ?? []), tag.id]),
      score: (contact.score ?? 0) + points,
    };
    const reaction = await contactReactions().contactChanged(
      contact,
      { starts: tag.starts, points, after },
      maxOtherWrites - rules.length,
    );
    const membership = { kind: "TAG", group: tag.id } as const;
    await write(
      ...addMembersWrites(membership, [contact], { points, reaction }),
      ...scoreLogWrites(contact, tag, rules),
      ...reaction.writes,
    );
    await reaction.afterCommit();
    return true;
  });

/** The scoring rules that give points for the tag. */
async function findRules({ orgId, siteId }: ContactItem, tag: Tag): Promise<ScoringRule[]> {
  const facts = { tagId: tag.id, tagName: tag.name };
  return matchRules(await getSiteRules(orgId, siteId), { trigger: "tag_add", facts });
}

function scoreLogWrites({ orgId, id, v }: ContactItem, tag: Tag, rules: ScoringRule[]) {
  const event = { key: `tag ${tag.id} on version ${v}`, at: now().toISOString() };
  return rules.map((rule) => scoreLogWrite({ orgId, id }, rule.points, causeOf(event, rule)));
}

/** Idempotent. */
export const removeTag = (caller: CallerScope, contactId: number, tagId: number): Promise<void> =>
  contacts.changeWithRetry(caller, { id: contactId }, async (contact) => {
    if (!contact.tags?.has(tagId)) return;
    const after = { ...contact, tags: contact.tags.difference(new Set([tagId])) };
    const note = await contactReactions().noteChanges(caller.orgId, [{ before: contact, after }]);
    await write(...removeMembersWrites({ kind: "TAG", group: tagId }, [contact]), ...note.writes);
    await note.afterCommit();
  });
