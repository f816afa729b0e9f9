// Items with these keys exist in users' tables, so the text of a key must never change.
import { expect, test } from "vitest";
import { type Key, type KeyRange, keys, ranges, sha256 } from "../../shared/keys.ts";

const org = 7;
const source = { kind: "campaign", id: 12 } as const;
const group = { kind: "LIST", id: 12 } as const;
const call = { block: 5, chunk: 1, call: 2 };
const visitor = { siteId: 2, visitorId: "browser" };

const storedKeys: [Key, pk: string, sk: string][] = [
  [keys.recordBody(org, "TEMPLATE", { id: 12, version: 3 }), "7#BODY#TEMPLATE#12", "3"],
  [keys.recordBody(org, "SNIPPET", { id: 12, version: 3 }), "7#BODY#SNIPPET#12", "3"],
  [keys.snippetDirectory(org, 2), "7#2#SNIPPETS", "#"],
  [keys.leaveReasonCount(org, 2, 3), "7#2#LEAVECOUNT", "3"],
  [keys.groupName(org, 2, { kind: "TAG", name: " New" }), "7#2#TAGNAME", sha256("new")],
  [keys.membership(org, group, { shard: "a", contactId: 345 }), "7#MLIST12#a", "0000000000000345"],
  [keys.deletedGroup(org, group), "7#DEADLIST", "0000000000000012"],
  [keys.groupCount(org, group, "a"), "7#MCOUNTLIST12", "a"],
  [keys.externalId(org, 2, "user-1"), "7#2#EXTERNALID", sha256("user-1")],
  [keys.eventId(org, 2, "order-1"), `7#EVENTID#2#${sha256("order-1")}`, "#"],
  [keys.visit(org, visitor, "2026"), `7#V2#${sha256("browser")}`, "VISIT#2026"],
  [keys.callResult(org, call, 3), "7#B5", "RESULT#1#2#0003"],
  [keys.sourceCount(org, source, 3), "7#Ncampaign#12", "3"],
  [keys.sourceState(org, source), "7#Ncampaign#12", "STATE"],
  [keys.campaignLinks(org, 12), "7#CL12", "URLS"],
  [keys.seriesRun(org, 12, "2027-03-20"), "7#SR12", "2027-03-20"],
  [keys.seriesFeed(org, 12), "7#SERIESFEED", "0000000000000012"],
  [
    keys.archivedMail(org, 3, "2027-03-20T09:00:00.000Z#12"),
    "7#3#ARCHIVE",
    "2027-03-20T09:00:00.000Z#12",
  ],
  [keys.archivedPage(org, 12), "7#ARCHIVEPAGE", "0000000000000012"],
  [keys.linkCount(org, 12, { variantId: 4, shard: 3 }), "7#CL12", "0000000000000004#3"],
  [keys.suspendedChunk(org, source, "p1"), "7#Hcampaign#12", "p1"],
  [
    keys.waitingChunk(org, source, { at: "2026-11-21T09:00:00.000Z", block: 5 }),
    "7#Hcampaign#12",
    "WAIT#2026-11-21T09:00:00.000Z#0000000000000005",
  ],
  [keys.fanOutPlan(org, source), "7#Fcampaign#12", "PLAN"],
  [keys.fanOutCursor(org, source, "a"), "7#Fcampaign#12", "AT#a"],
  [keys.fanOutLog(org, source, { shard: "a", n: 4 }), "7#Fcampaign#12", "LOG#a#0000000000000004"],
  [keys.deletedFanOut(org, source), "7#Fcampaign#12", "REMAINS"],
  [keys.enrollment(org, 12, { shard: "a", contactId: 345 }), "7#Q12#a", "0000000000000345"],
  [keys.finishedEnrollment(org, 12, { shard: "a", position: "p1" }), "7#QX12#a", "p1"],
  [keys.stepCount(org, 12, { stepId: 4, shard: 3 }), "7#QN12", "STEP#0000000000000004#3"],
  [keys.dayCounters(org, 2, { date: "2026-01-31", shard: 3 }), "7#2#DAYS", "2026-01-31#3"],
  [
    keys.dayDomainCounters(org, 2, { date: "2026-01-31", domain: "a.example", shard: 3 }),
    "7#2#DAY2026-01-31",
    "D#a.example#3",
  ],
];

const storedRanges: [KeyRange, pk: string, prefix?: string][] = [
  [ranges.members(org, group, "a"), "7#MLIST12#a"],
  [ranges.groupCounts(org, group), "7#MCOUNTLIST12"],
  [ranges.callResults(org, call), "7#B5", "RESULT#1#2#"],
  [ranges.sourceCounts(org, source), "7#Ncampaign#12"],
  [ranges.suspendedChunks(org, source), "7#Hcampaign#12"],
  [ranges.seriesRuns(org, 12), "7#SR12"],
  [ranges.archivedMails(org, 3), "7#3#ARCHIVE"],
  [ranges.fanOut(org, source), "7#Fcampaign#12"],
  [ranges.fanOutCursors(org, source), "7#Fcampaign#12", "AT#"],
  [ranges.fanOutLog(org, source), "7#Fcampaign#12", "LOG#"],
  [ranges.fanOutLog(org, source, "a"), "7#Fcampaign#12", "LOG#a#"],
];

test("keys keep the text that stored items have", () => {
  for (const [key, pk, sk] of storedKeys) expect(key).toEqual({ pk, sk });
});

test("ranges find the items that are stored", () => {
  for (const [range, pk, prefix] of storedRanges)
    expect(range).toEqual({ pk, ...(prefix !== undefined && { prefix }) });
});
