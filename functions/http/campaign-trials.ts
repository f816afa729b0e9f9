import * as previews from "../../shared/domain/campaigns/preview.ts";
import * as proofs from "../../shared/domain/campaigns/proofs.ts";
import { route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";

// Beside the other routes of campaigns, because they render and take mails: together it would be too much to start with.
const unready = "What is needed to send it is missing: the message names it";

export const campaignTrials = group("campaign-trials", [
  route("POST /campaigns/:id/preview", "Dry run: how many would get it now, who not and why, and up to ten mails as they would read", {
    level: "site",
    returns: previews.Preview,
    errors: { 400: unready },
    handle: async ({ caller, params, reply }) => {
      const { warnings, ...preview } = await previews.preview(caller, params.id);
      reply.warnings.push(...warnings);
      return preview;
    },
  }),
  route("POST /campaigns/:id/test", "Mail proofs of a campaign to up to ten addresses; they are not counted", {
    level: "site",
    limit: "send",
    body: proofs.ProofRequest,
    status: 202,
    returns: proofs.Proofs,
    errors: { 400: unready, 402: "Not a single mail is left of plan and credits", 404: "There is no such campaign or variant" },
    handle: ({ caller, params, body }) => proofs.send(caller, params.id, body),
  }),
]);
export const { handler } = campaignTrials;
