import * as z from "zod";
import { setArchive } from "../../shared/domain/campaigns/archive/publish-campaign.ts";
import * as campaignAudience from "../../shared/domain/campaigns/campaign-audience.ts";
import * as campaignPreview from "../../shared/domain/campaigns/campaign-preview.ts";
import { Campaign } from "../../shared/domain/campaigns/campaign-schema.ts";
import * as proofs from "../../shared/domain/campaigns/proofs.ts";
import * as templateTests from "../../shared/domain/sending/template-tests.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { route } from "../../shared/http/route.ts";

// Separate from the other routes of campaigns and templates, because rendering and sending would
// make their bundles too large.
const notSendable = "The campaign is not complete: the message names what is missing.";

const ArchiveChange = z
  .object({ archive: z.boolean().describe("Whether the archive shows it.") })
  .meta({ examples: [{ archive: true }] });

export const campaignPreviews = routeGroup("campaign-previews", [
  route("GET /campaigns/:id/audience", "Count the audience of a campaign", {
    operationId: "getCampaignAudience",
    description:
      "Counts the contacts of the audience, those who would get the campaign now, and the others " +
      "by reason, with the same rules as the sending. The campaign needs only its audience: " +
      "content and sender may be missing. It reads the contacts of the site, so it takes longer " +
      "the more there are. Above 10,000 contacts in the audience, only the status of each is " +
      "counted, and `exact` is false.",
    level: "site",
    returns: campaignAudience.CampaignReach,
    errors: { 400: "A list, tag, segment or topic of the campaign no longer exists." },
    handle: ({ caller, params }) => campaignAudience.getReach(caller, params.id),
  }),
  route("POST /campaigns/:id/preview", "Preview a campaign", {
    right: "marketing:read",
    description:
      "Counts who would receive the campaign now and who would not, and renders up to ten " +
      "sample emails. Sends nothing.",
    level: "site",
    preview: true,
    returns: campaignPreview.CampaignPreview,
    errors: { 400: notSendable },
    handle: async ({ caller, params, reply }) => {
      const { warnings, ...preview } = await campaignPreview.preview(caller, params.id);
      reply.warnings.push(...warnings);
      return preview;
    },
  }),
  route("PUT /campaigns/:id/archive", "Show a campaign in the public archive", {
    operationId: "updateCampaignArchive",
    description:
      "Puts the email of the campaign into the public archive of its site, or removes it, in any " +
      "status. A campaign that has not started is shown once it is being sent. Safe to repeat.",
    level: "site",
    body: ArchiveChange,
    returns: Campaign,
    errors: { 409: "The email can no longer be rendered, for example without its template." },
    handle: ({ caller, params, body }) => setArchive(caller, params.id, body.archive),
  }),
  route("POST /campaigns/:id/test", "Send test emails of a campaign", {
    operationId: "sendCampaignProofs",
    description:
      "Sends proofs to up to ten email addresses. Proofs do not count in the stats of the " +
      "campaign.",
    level: "site",
    body: proofs.ProofRequest,
    status: 202,
    returns: proofs.Proofs,
    errors: {
      400: notSendable,
      402: "The plan's emails and the credits are used up.",
      404: "The campaign or the variant does not exist.",
    },
    handle: ({ caller, params, body }) => proofs.sendProofs(caller, params.id, body),
  }),
  route("POST /templates/:id/test", "Send test emails of a template", {
    operationId: "sendTemplateTests",
    description:
      "Renders the template, or the given draft of it, with the fields of a contact or the given " +
      "variables, and sends it to up to five addresses. The subject begins with `[Test]`, and " +
      "unsubscribe links do not work. Test emails use the quota and are in the list of sends. No " +
      "campaign, sequence or template counts them. Callers without the right `sending:write` or " +
      "`marketing:write` can name only members whose address is verified. At most 100 requests a " +
      "day.",
    level: "site",
    rateLimit: "send",
    needsVerifiedEmail: true,
    body: templateTests.TemplateTestRequest,
    status: 202,
    returns: templateTests.TemplateTests,
    errors: {
      400: "The sending config is not verified, or a part is not valid Liquid.",
      402: "The plan's emails and the credits are used up.",
      403: "An address is not that of a member, and the caller may not send (`scope_missing`).",
      404: "The template, the contact or the sending config does not exist.",
    },
    handle: ({ caller, params, body }) => templateTests.sendTemplateTests(caller, params.id, body),
  }),
]);
export const { handler } = campaignPreviews;
