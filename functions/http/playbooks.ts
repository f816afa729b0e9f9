import * as z from "zod";
import * as playbook from "../../shared/domain/automation/playbooks/playbooks.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { route } from "../../shared/http/route.ts";

export const playbooks = routeGroup("playbooks", [
  route("GET /sequences/playbooks", "List playbooks", {
    operationId: "listPlaybooks",
    description:
      "Returns ready-made sequences with the subjects, delays and conditions of their steps.",
    auth: "public",
    rateLimit: "address",
    cors: true,
    returns: z.object({ playbooks: z.array(playbook.Playbook).describe("The eight playbooks.") }),
    handle: async () => ({ playbooks: playbook.list() }),
  }),
  route("POST /sequences/playbooks/:playbookId/create", "Create a sequence from a playbook", {
    operationId: "createSequenceFromPlaybook",
    description: "Creates the sequence as a draft, with its steps and templates.",
    level: "site",
    body: playbook.NewFromPlaybook,
    returns: playbook.PlaybookResult,
    status: 201,
    errors: { 404: "The playbook, site or sending config does not exist." },
    handle: async ({ caller, params, body, reply }) => {
      const { warnings, ...made } = await playbook.create(caller, params.playbookId, body);
      reply.warnings.push(...warnings);
      return made;
    },
  }),
]);
export const { handler } = playbooks;
