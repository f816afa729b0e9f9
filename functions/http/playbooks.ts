import * as z from "zod";
import * as playbook from "../../shared/domain/playbooks.ts";
import { route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";

export const playbooks = group("playbooks", [
  route("GET /sequences/playbooks", "Prebuilt sequences with their mails written out", {
    auth: "public",
    limit: "address",
    returns: z.object({ playbooks: z.array(playbook.Playbook) }),
    handle: async () => ({ playbooks: playbook.list() }),
  }),
  route("POST /sequences/playbooks/:playbookId/create", "Make a playbook's sequence, with its steps and templates, as a draft", {
    level: "site",
    body: playbook.NewFromPlaybook,
    returns: playbook.Made,
    status: 201,
    errors: { 404: "There is no such playbook, site or sending config" },
    handle: async ({ caller, params, body, reply }) => {
      const { warnings, ...made } = await playbook.create(caller, params.playbookId, body);
      reply.warnings.push(...warnings);
      return made;
    },
  }),
]);
export const { handler } = playbooks;
