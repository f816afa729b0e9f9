import { consume } from "../../shared/consume.ts";
import * as deadGroups from "../../shared/domain/contacts/dead-groups.ts";
import * as deadForms from "../../shared/domain/forms/dead-forms.ts";
import { queues } from "../../shared/queues.ts";

export const worker = consume(queues.sweep, ({ orgId, kind, groupId }) =>
  kind === "FORM" ? deadForms.sweep(orgId, groupId) : deadGroups.sweep(orgId, kind, groupId),
);
export const { handler } = worker;
