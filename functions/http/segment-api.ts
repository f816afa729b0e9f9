import "../../shared/domain/conversion-reactions.ts";
import "../../shared/domain/reactions.ts";
import * as segmentApi from "../../shared/domain/audience/tracking/segment-api.ts";
import * as segmentCalls from "../../shared/domain/audience/tracking/segment-calls.ts";
import { tooLarge } from "../../shared/errors.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { type ApiRequest, route } from "../../shared/http/route.ts";

const summaries: Record<segmentCalls.CallType, string> = {
  identify: "Take an identify call of Segment's API",
  track: "Take a track call of Segment's API",
  page: "Take a page call of Segment's API",
  screen: "Take a screen call of Segment's API",
  group: "Take a group call of Segment's API",
  alias: "Take an alias call of Segment's API",
};
const descriptions: Record<segmentCalls.CallType, string> = {
  identify:
    "Creates or changes the contact with the `userId` (its `externalId`) or the email address of " +
    "the traits. A new contact is `pending`, or `subscribed` with the trait `subscribed: true`.",
  track: "Records a custom event of the contact, as POST /events/custom does.",
  page: "Records the custom event `page` of the contact.",
  screen: "Records the custom event `screen` of the contact.",
  group: "Sets the company of the contact to the trait `name` of the group.",
  alias: "Gives the contact with the `externalId` `previousId` the `externalId` `userId`.",
};
const unknown = " A call about nobody known is ignored, and the answer says so.";
const common = {
  audit: "counted",
  level: "site",
  takesBasicAuth: true,
  returns: segmentCalls.SegmentAnswer,
} as const;

// The same calls as Segment's API, so that its libraries need no change but the address.
export const segmentApiCalls = routeGroup("segment-api", [
  ...segmentCalls.callTypes.map((type) =>
    route(`POST /segment/v1/${type}`, summaries[type], {
      ...common,
      operationId: `receiveSegment${type.charAt(0).toUpperCase()}${type.slice(1)}`,
      description: descriptions[type] + unknown,
      body: segmentCalls.SegmentCall,
      errors: { 413: "The body is larger than 32 KB." },
      handle: ({ caller, body, request }) => {
        checkBodySize(request, segmentCalls.maxCallBytes);
        return segmentApi.applyCall(caller, type, body);
      },
    }),
  ),
  ...(["batch", "import"] as const).map((name) =>
    route(`POST /segment/v1/${name}`, `Take a ${name} of calls of Segment's API`, {
      ...common,
      operationId: `receiveSegment${name === "batch" ? "Batch" : "Import"}`,
      description:
        "Takes calls of all types. Each has its own result: one that fails does not stop the " +
        `others, and the status is 200.${unknown} Safe to repeat if events have a \`messageId\`.`,
      body: segmentCalls.SegmentBatch,
      errors: { 413: "The body is larger than 500 KB." },
      handle: ({ caller, body, request }) => {
        checkBodySize(request, segmentCalls.maxBatchBytes);
        return segmentApi.applyAll(caller, body.batch);
      },
    }),
  ),
]);
export const { handler } = segmentApiCalls;

function checkBodySize({ rawBody }: ApiRequest, limit: number): void {
  if (rawBody.length > limit) throw tooLarge(`The body is larger than ${limit / 1024} KB`);
}
