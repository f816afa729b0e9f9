// Every query of the console. The first word of a key is the group of the API, so a change can
// refresh all that was read from the group.

import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import type {
  CampaignDetail,
  ImportPage,
  ListAuditEntriesQuery,
  ListCampaignsQuery,
  ListContactsQuery,
  ListEventsQuery,
  ListFormsQuery,
  ListImportsQuery,
  ListListsQuery,
  ListMediaQuery,
  ListRequestsQuery,
  ListSegmentsQuery,
  ListSendsQuery,
  ListSnippetsQuery,
  ListSuppressionsQuery,
  ListTagsQuery,
  ListTemplatesQuery,
  ListWebhookDeliveriesQuery,
  NamedRecord,
  NewContactAction,
  Pagination,
  SegmentRules,
  SnippetDraftInput,
  SnippetMeta,
  TemplateDraftInput,
} from "pennymail";
import { html } from "../../kernel/html.ts";
import { t } from "../language/translate.ts";
import { api, withWarnings } from "./client.ts";
import { type ImportFile, isRunning, type PreviewOptions, toForm } from "./imports.ts";
import { pollMs } from "./jobs.ts";

export type Period = "7d" | "30d" | "90d";
export type ContactReportName = keyof typeof contactReports;
const pageLimit = 100;
const minute = 60_000;
/** For a screen that shows one job. */
const ownPoll: [number, number] = [1_000, 10_000];

export type FilterOf<Query> = Omit<Query, "page" | "limit" | "cursor">;

interface PageQuery {
  limit: number;
  cursor?: string;
}

/** All pages of a list, read one after the other. */
export const pagesOf = <Page extends { pagination: Pagination }>(
  queryKey: readonly unknown[],
  read: (page: PageQuery) => Promise<Page>,
) =>
  infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam }) => read({ limit: pageLimit, ...(pageParam && { cursor: pageParam }) }),
    initialPageParam: "",
    getNextPageParam: ({ pagination }) => pagination.nextCursor,
    placeholderData: keepPreviousData,
  });

/** Names of the records of a site that people choose from, by group of the API. */
const namedRecords = {
  lists: (query: NameQuery) => api.lists.list(query),
  tags: (query: NameQuery) => api.tags.list(query),
  topics: ({ siteId }: NameQuery) => api.topics.list({ siteId }),
  forms: (query: NameQuery) => api.forms.list(query),
  campaigns: (query: NameQuery) => api.campaigns.list(query),
  sequences: (query: NameQuery) => api.sequences.list(query),
  segments: (query: NameQuery) => api.segments.list(query),
  templates: (query: NameQuery) => api.templates.list(query),
  snippets: (query: NameQuery) => api.snippets.list(query),
};
interface NameQuery {
  siteId: number;
  limit: number;
  search?: string;
}
export type NamedGroup = keyof typeof namedRecords;
export const namedGroups = Object.keys(namedRecords) as NamedGroup[];
const maxNames = 500;

/** Reports that list contacts, by their names in exports. */
const contactReports = {
  "unengaged-contacts": api.reports.listUnengagedContacts,
  "multi-sequence": api.reports.listMultiSequenceContacts,
  "no-sequences": api.reports.listContactsWithoutSequences,
};

/** When a campaign is read again, in milliseconds: soon while it is being sent. */
function nextLook({ status, scheduledAt, finishedAt }: CampaignDetail): number | false {
  if (status === "sending") return 2_000;
  // Most events come in the first minutes.
  if (status === "sent" && finishedAt) {
    const since = Date.now() - Date.parse(finishedAt);
    if (since < 10 * minute) return 5_000;
    return since < 24 * 60 * minute ? minute : false;
  }
  if (status !== "scheduled") return false;
  const untilStart = Date.parse(scheduledAt ?? "") - Date.now();
  return untilStart > minute ? 30_000 : 2_000;
}

/** What the preview of a campaign depends on, besides its template and its contacts. */
function previewedParts(campaign: CampaignDetail) {
  const { audience, listId, tagId, segmentId, topicId, sendingConfigId } = campaign;
  const { fromEmail, fromName, replyTo } = campaign;
  const { templateId, subject, previewText, utm, strict, variants } = campaign;
  const target = { audience, listId, tagId, segmentId, topicId, sendingConfigId };
  const sender = { fromEmail, fromName, replyTo };
  return { ...target, ...sender, templateId, subject, previewText, utm, strict, variants };
}

const plainTextPage = (text: string): string =>
  html`<pre style="white-space:pre-wrap;font:20px/1.5 system-ui;padding:24px">${text}</pre>`.html;

async function readNames(group: NamedGroup, siteId: number): Promise<NamedRecord[]> {
  const names: NamedRecord[] = [];
  for await (const { id, name } of namedRecords[group]({ siteId, limit: pageLimit })) {
    names.push({ id, name });
    if (names.length === maxNames) break;
  }
  return names;
}

/** One page of names, newest first. */
async function readNamePage(group: NamedGroup, query: NameQuery): Promise<NamePage> {
  const page: object = await namedRecords[group](query);
  const records = (page as Record<NamedGroup, CountedName[]>)[group];
  const { pagination } = page as { pagination?: Pagination };
  return {
    names: records.map(({ id, name, contactCount }) => ({
      ...{ id, name },
      ...(contactCount !== undefined && { contactCount }),
    })),
    hasMore: Boolean(pagination?.nextCursor),
  };
}

async function readName(group: NamedGroup, id: number): Promise<NamedRecord> {
  // A tag cannot be read alone.
  if (group !== "tags") return { id, name: (await api[group].get(id)).name };
  for await (const tag of api.tags.list({ limit: pageLimit }))
    if (tag.id === id) return { id, name: tag.name };
  throw new Error(t("The tag {id} does not exist", { id }));
}

/** A list or tag has the number of its contacts. */
export interface CountedName extends NamedRecord {
  contactCount?: number;
}

interface NamePage {
  names: CountedName[];
  hasMore: boolean;
}

export const queries = {
  me: () =>
    queryOptions({
      queryKey: ["account", "me"],
      queryFn: () => api.account.getCallerIdentity(),
      staleTime: 5 * minute,
    }),
  signup: () =>
    queryOptions({
      queryKey: ["account", "signup"],
      queryFn: () => api.account.getSignupState(),
      staleTime: minute,
    }),
  sites: () =>
    queryOptions({
      queryKey: ["sites", "list"],
      queryFn: () => api.sites.list({ limit: pageLimit }),
      staleTime: 5 * minute,
    }),
  setup: () =>
    queryOptions({
      queryKey: ["organization", "setup"],
      queryFn: () => api.organization.getSetup(),
      // The step of the first email is done by campaigns and programs, which nothing here notices.
      staleTime: 0,
    }),
  attention: () =>
    queryOptions({
      queryKey: ["organization", "attention"],
      queryFn: () => api.organization.getAttention(),
      staleTime: minute,
    }),
  dashboard: (siteId: number | undefined, period: Period) =>
    queryOptions({
      queryKey: ["analytics", "dashboard", siteId, period],
      queryFn: () => api.analytics.getDashboardOverview({ period, ...(siteId && { siteId }) }),
      staleTime: minute,
      placeholderData: keepPreviousData,
    }),
  overview: (siteId: number | undefined, period: Period) =>
    queryOptions({
      queryKey: ["analytics", "overview", siteId, period],
      queryFn: () => api.analytics.getOverview({ period, ...(siteId && { siteId }) }),
      staleTime: minute,
      placeholderData: keepPreviousData,
    }),
  deliverability: (siteId: number, period: Period) =>
    queryOptions({
      queryKey: ["analytics", "deliverability", siteId, period],
      queryFn: () => api.analytics.getDeliverability({ siteId, period }),
      staleTime: minute,
      placeholderData: keepPreviousData,
    }),
  topicStatistics: (siteId: number, period: Period) =>
    queryOptions({
      queryKey: ["analytics", "topics", siteId, period],
      queryFn: () => api.analytics.getTopicStatistics({ siteId, period }),
      placeholderData: keepPreviousData,
    }),
  leaveReasons: (query: { siteId: number; period: Period } | { campaignId: number }) =>
    queryOptions({
      queryKey: ["analytics", "leaveReasons", query],
      queryFn: () => api.analytics.getLeaveReasons(query),
      placeholderData: keepPreviousData,
    }),
  reportedContacts: (name: ContactReportName, filter: { siteId: number }) =>
    pagesOf(["reports", name, filter], (page) =>
      contactReports[name]({ ...filter, ...page, format: "json" }),
    ),
  reportSchedules: (siteId: number) =>
    queryOptions({
      queryKey: ["reportSchedules", "list", siteId],
      queryFn: async () =>
        (await api.reports.listSchedules({ siteId, limit: pageLimit })).schedules,
    }),
  export: (id: number) =>
    queryOptions({
      queryKey: ["exports", "detail", id],
      queryFn: () => api.exports.get(id),
      refetchInterval: ({ state: { data } }) =>
        data && ["queued", "running"].includes(data.status)
          ? pollMs(data.createdAt, ownPoll)
          : false,
    }),
  contacts: (filter: FilterOf<ListContactsQuery>) =>
    pagesOf(["contacts", "list", filter], (page) => api.contacts.list({ ...filter, ...page })),
  contactActionPreview: (action: NewContactAction) =>
    queryOptions({
      queryKey: ["contactActions", "preview", action],
      queryFn: () => api.contactActions.preview(action),
      staleTime: 0,
    }),
  contactAction: (id: number) =>
    queryOptions({
      queryKey: ["contactActions", "detail", id],
      queryFn: () => api.contactActions.get(id),
      refetchInterval: ({ state: { data } }) =>
        data && ["queued", "running", "cancelling"].includes(data.status)
          ? pollMs(data.createdAt, ownPoll)
          : false,
    }),
  contact: (id: number) =>
    queryOptions({
      queryKey: ["contacts", "detail", id],
      queryFn: () => api.contacts.get(id),
    }),
  timeline: (contactId: number) =>
    infiniteQueryOptions({
      queryKey: ["contacts", "timeline", contactId],
      queryFn: ({ pageParam: cursor }) =>
        api.contacts.getTimeline(contactId, { limit: 30, ...(cursor && { cursor }) }),
      initialPageParam: "",
      getNextPageParam: ({ nextCursor }) => nextCursor,
    }),
  contactTopics: (contactId: number) =>
    queryOptions({
      queryKey: ["contacts", "topics", contactId],
      queryFn: () => api.contacts.getTopics(contactId),
    }),
  sends: (filter: FilterOf<ListSendsQuery>) =>
    pagesOf(["sends", "list", filter], (page) => api.sends.list({ ...filter, ...page })),
  events: (filter: FilterOf<ListEventsQuery>) =>
    pagesOf(["events", "list", filter], (page) => api.events.list({ ...filter, ...page })),
  unmatchedEvents: () =>
    pagesOf(["events", "unmatched"], (page) => api.events.listUnmatchedEvents(page)),
  secureMessages: (filter: { siteId?: number }) =>
    pagesOf(["secure-messages", "list", filter], (page) =>
      api.secureMessages.list({ ...filter, ...page }),
    ),
  inboundEmails: (filter: { siteId?: number }) =>
    pagesOf(["inbound-emails", "list", filter], (page) =>
      api.inboundEmails.list({ ...filter, ...page }),
    ),
  latestInboundEmail: (siteId: number) =>
    queryOptions({
      queryKey: ["inbound-emails", "latest", siteId],
      queryFn: () => api.inboundEmails.list({ siteId, limit: 1 }),
    }),
  inboundSettings: (siteId: number) =>
    queryOptions({
      queryKey: ["inbound-settings", siteId],
      queryFn: () => api.inboundEmails.getInboundSettings(siteId),
    }),
  /** The senders with an SMTP server, each with its bounce mailbox. */
  bounceMailboxes: () =>
    queryOptions({
      queryKey: ["bounce-mailboxes"],
      queryFn: async () => {
        const { sendingConfigs } = await api.sendingConfigs.list({ limit: 100 });
        const senders = sendingConfigs.filter(({ provider }) => provider === "smtp");
        const found = await Promise.all(
          senders.map(({ id }) => api.sendingConfigs.getBounceMailbox(id)),
        );
        return senders.map((sender, i) => ({ sender, mailbox: found[i]!.mailbox }));
      },
    }),
  inboundEmail: (id: number) =>
    queryOptions({
      queryKey: ["inbound-emails", "detail", id],
      queryFn: () => api.inboundEmails.get(id),
    }),
  send: (id: number) =>
    queryOptions({ queryKey: ["sends", "detail", id], queryFn: () => api.sends.get(id) }),
  sentContent: (id: number) =>
    queryOptions({ queryKey: ["sends", "content", id], queryFn: () => api.sends.getContent(id) }),
  imports: (filter: FilterOf<ListImportsQuery>) => ({
    ...pagesOf(["imports", "list", filter], (page) => api.imports.list({ ...filter, ...page })),
    // As long as one runs.
    refetchInterval: ({ state }: { state: { data?: { pages: ImportPage[] } | undefined } }) =>
      state.data?.pages.some(({ imports }) => imports.some(isRunning)) ? 2_000 : false,
  }),
  latestImports: (siteId: number) =>
    queryOptions({
      queryKey: ["imports", "latest", siteId],
      queryFn: async () => (await api.imports.list({ siteId, limit: 20 })).imports,
    }),
  importPreview: (siteId: number, file: ImportFile, options: PreviewOptions) =>
    queryOptions({
      queryKey: ["imports", "preview", siteId, file.id, options],
      queryFn: () => api.imports.preview(toForm(file, { siteId, ...options })),
      placeholderData: keepPreviousData,
      staleTime: Number.POSITIVE_INFINITY,
    }),
  import: (id: number) =>
    queryOptions({
      queryKey: ["imports", "detail", id],
      queryFn: () => api.imports.get(id),
      refetchInterval: ({ state: { data } }) =>
        data && isRunning(data) ? pollMs(data.createdAt, ownPoll) : false,
    }),
  members: () =>
    queryOptions({
      queryKey: ["members", "list"],
      queryFn: () => api.members.list({ limit: pageLimit }),
    }),
  invitations: () =>
    queryOptions({
      queryKey: ["invitations", "list"],
      queryFn: () => api.invitations.list({ limit: pageLimit }),
    }),
  roles: () =>
    queryOptions({
      queryKey: ["roles", "list"],
      queryFn: () => api.roles.list(),
      staleTime: 60 * minute,
    }),
  apiKeys: () =>
    queryOptions({
      queryKey: ["apiKeys", "list"],
      queryFn: () => api.apiKeys.list({ limit: pageLimit }),
    }),
  why: (question: { siteId: number; email: string; campaignId?: number }) =>
    queryOptions({
      queryKey: ["sends", "why", question],
      queryFn: () => api.sends.explain(question),
    }),
  sendsOfContact: (contactId: number) =>
    queryOptions({
      queryKey: ["sends", "latest", contactId],
      queryFn: () => api.sends.list({ contactId, limit: 20 }),
    }),
  /** The figures of each campaign take reads, so pages are short. */
  countedCampaigns: (filter: FilterOf<ListCampaignsQuery>) =>
    pagesOf(["campaigns", "list", "counted", filter], (page) =>
      api.campaigns.list({ ...filter, ...page, limit: 30, withStats: "true" }),
    ),
  series: (siteId: number | undefined) =>
    queryOptions({
      queryKey: ["series", "list", siteId],
      queryFn: async () =>
        (await api.campaignSeries.list({ ...(siteId && { siteId }), limit: 50 })).series,
    }),
  seriesDetail: (id: number) =>
    queryOptions({
      queryKey: ["series", "detail", id],
      queryFn: () => api.campaignSeries.get(id),
    }),
  seriesRuns: (id: number) =>
    queryOptions({
      queryKey: ["series", "runs", id],
      queryFn: async () => (await api.campaignSeries.listRuns(id)).runs,
      refetchInterval: minute,
    }),
  campaign: (id: number) =>
    queryOptions({
      queryKey: ["campaigns", "detail", id],
      queryFn: () => api.campaigns.get(id),
      refetchInterval: ({ state }) => (state.data ? nextLook(state.data) : false),
    }),
  // Other changes of the campaign do not count its audience again.
  campaignAudience: ({ id, audience, listId, tagId, segmentId, topicId }: CampaignDetail) =>
    queryOptions({
      queryKey: ["campaignAudience", id, { audience, listId, tagId, segmentId, topicId }],
      queryFn: ({ signal }) => api.campaigns.getAudience(id, { signal }),
      staleTime: minute,
      placeholderData: keepPreviousData,
    }),
  campaignAudit: (id: number) =>
    queryOptions({
      queryKey: ["campaigns", "audit", id],
      queryFn: () => api.campaigns.getAudit(id),
      refetchInterval: ({ state }) => (state.data?.status === "auditing" ? 2_000 : false),
    }),
  campaignPreview: (campaign: CampaignDetail, templateVersion?: number) =>
    queryOptions({
      queryKey: ["campaignPreview", campaign.id, previewedParts(campaign), templateVersion],
      queryFn: ({ signal }) =>
        withWarnings((client) => client.campaigns.preview(campaign.id, { signal })),
      // A template may have changed on its own screen.
      refetchOnMount: "always",
      placeholderData: keepPreviousData,
    }),
  campaignLinks: (id: number) =>
    queryOptions({
      queryKey: ["campaigns", "links", id],
      queryFn: () => api.campaigns.listLinks(id),
    }),
  campaignTimeline: (id: number) =>
    queryOptions({
      queryKey: ["campaigns", "timeline", id],
      queryFn: () => api.campaigns.getTimeline(id),
      refetchInterval: minute,
    }),
  firstSendOfCampaign: (campaignId: number) =>
    queryOptions({
      queryKey: ["sends", "first", campaignId],
      queryFn: () => api.sends.list({ campaignId, limit: 1 }),
    }),
  templates: (siteId: number) =>
    queryOptions({
      queryKey: ["templates", "list", siteId],
      queryFn: () => api.templates.list({ siteId, limit: pageLimit }),
    }),
  templatePages: (filter: FilterOf<ListTemplatesQuery>) =>
    pagesOf(["templates", "pages", filter], (page) => api.templates.list({ ...filter, ...page })),
  template: (id: number) =>
    queryOptions({ queryKey: ["templates", "detail", id], queryFn: () => api.templates.get(id) }),
  /** The html of a version, or its text. It never changes. */
  thumbnail: (id: number, version: number) =>
    queryOptions({
      queryKey: ["templates", "thumbnail", id, version],
      queryFn: async () => {
        const { html, text } = await api.templates.render(id, {});
        return html ?? plainTextPage(text ?? "");
      },
      staleTime: Number.POSITIVE_INFINITY,
    }),
  renderedDraft: (id: number, draft: TemplateDraftInput) =>
    queryOptions({
      queryKey: ["templates", "rendered", id, draft],
      queryFn: () => api.templates.render(id, draft),
      placeholderData: keepPreviousData,
    }),
  templateCheck: (id: number, draft: TemplateDraftInput) =>
    queryOptions({
      queryKey: ["templates", "check", id, draft],
      queryFn: () => api.templates.check(id, draft),
      placeholderData: keepPreviousData,
    }),
  templateVersions: (id: number) =>
    queryOptions({
      queryKey: ["templates", "versions", id],
      queryFn: () => api.templates.listVersions(id),
    }),
  siteSnippets: (siteId: number) =>
    queryOptions({
      queryKey: ["snippets", "site", siteId],
      queryFn: async () => {
        const snippets: SnippetMeta[] = [];
        for await (const one of api.snippets.list({ siteId, limit: pageLimit })) snippets.push(one);
        return { snippets };
      },
    }),
  snippetPages: (filter: FilterOf<ListSnippetsQuery>) =>
    pagesOf(["snippets", "pages", filter], (page) => api.snippets.list({ ...filter, ...page })),
  snippetUses: (id: number) =>
    queryOptions({ queryKey: ["snippets", "uses", id], queryFn: () => api.snippets.listUses(id) }),
  templateUses: (id: number) =>
    queryOptions({
      queryKey: ["templates", "uses", id],
      queryFn: () => api.templates.listUses(id),
    }),
  renderedSnippet: (id: number, draft: SnippetDraftInput) =>
    queryOptions({
      queryKey: ["snippets", "rendered", id, draft],
      queryFn: () => api.snippets.render(id, draft),
      placeholderData: keepPreviousData,
    }),
  snippet: (id: number) =>
    queryOptions({ queryKey: ["snippets", id], queryFn: () => api.snippets.get(id) }),
  templateFolders: (siteId: number) =>
    queryOptions({
      queryKey: ["templates", "folders", siteId],
      queryFn: () => api.templateFolders.list({ siteId, limit: pageLimit }),
    }),
  mediaPages: (filter: FilterOf<ListMediaQuery>) =>
    pagesOf(["media", "pages", filter], (page) => api.media.list({ ...filter, ...page })),
  photoSearch: () =>
    queryOptions({
      queryKey: ["stockPhotos", "status"],
      queryFn: () => api.stockPhotos.getStatus(),
      staleTime: 60 * minute,
    }),
  photos: (words: string) =>
    queryOptions({
      queryKey: ["stockPhotos", "list", words],
      queryFn: () => api.stockPhotos.search({ ...(words && { q: words }), per_page: 24 }),
      placeholderData: keepPreviousData,
    }),
  sampleContacts: (siteId: number) =>
    queryOptions({
      queryKey: ["contacts", "samples", siteId],
      queryFn: () => api.contacts.list({ siteId, limit: 20 }),
    }),
  segments: (siteId: number) =>
    queryOptions({
      queryKey: ["segments", "list", siteId],
      queryFn: () => api.segments.list({ siteId, limit: pageLimit }),
    }),
  lists: (siteId: number) =>
    queryOptions({
      queryKey: ["lists", "list", siteId],
      queryFn: () => api.lists.list({ siteId, limit: pageLimit }),
    }),
  tags: (siteId: number) =>
    queryOptions({
      queryKey: ["tags", "list", siteId],
      queryFn: () => api.tags.list({ siteId, limit: pageLimit }),
    }),
  listPages: (filter: FilterOf<ListListsQuery>) =>
    pagesOf(["lists", "pages", filter], (page) => api.lists.list({ ...filter, ...page })),
  tagPages: (filter: FilterOf<ListTagsQuery>) =>
    pagesOf(["tags", "pages", filter], (page) => api.tags.list({ ...filter, ...page })),
  topics: (siteId: number) =>
    queryOptions({
      queryKey: ["topics", "list", siteId],
      queryFn: async () => (await api.topics.list({ siteId })).topics,
    }),
  names: (group: NamedGroup, siteId: number) =>
    queryOptions({
      queryKey: [group, "names", siteId],
      queryFn: () => readNames(group, siteId),
    }),
  firstNames: (group: NamedGroup, siteId: number) =>
    queryOptions({
      queryKey: [group, "firstNames", siteId],
      queryFn: () => readNamePage(group, { siteId, limit: pageLimit }),
    }),
  foundNames: (group: NamedGroup, siteId: number, search: string) =>
    queryOptions({
      queryKey: [group, "foundNames", siteId, search],
      queryFn: async () => (await readNamePage(group, { siteId, limit: 50, search })).names,
      placeholderData: keepPreviousData,
    }),
  name: (group: NamedGroup, id: number) =>
    queryOptions({
      queryKey: [group, "name", id],
      queryFn: () => readName(group, id),
    }),
  /** With the name of replies, also before the first one. */
  eventNames: (siteId: number) =>
    queryOptions({
      queryKey: ["customEvents", "names", siteId],
      queryFn: async () => {
        const { names } = await api.customEvents.listNames({ siteId });
        return [...new Set([...names, "email_replied"])];
      },
    }),
  segmentPages: (filter: FilterOf<ListSegmentsQuery>) =>
    pagesOf(["segments", "pages", filter], (page) => api.segments.list({ ...filter, ...page })),
  segment: (id: number) =>
    queryOptions({ queryKey: ["segments", "detail", id], queryFn: () => api.segments.get(id) }),
  countBy: (siteId: number, rules: SegmentRules) =>
    queryOptions({
      queryKey: ["segments", "count", siteId, rules],
      queryFn: () => api.segments.previewCount({ siteId, rules }),
      placeholderData: keepPreviousData,
    }),
  firstOfSegment: (id: number) =>
    queryOptions({
      queryKey: ["segments", "contacts", id],
      queryFn: () => api.segments.listContacts(id, { limit: 10 }),
    }),
  whyRules: (contactId: number, rules: SegmentRules) =>
    queryOptions({
      queryKey: ["segments", "why", contactId, rules],
      queryFn: () => api.segments.explainRules({ contactId, rules }),
      placeholderData: keepPreviousData,
    }),
  foundContacts: (siteId: number, search: string) =>
    queryOptions({
      queryKey: ["contacts", "found", siteId, search],
      queryFn: () => api.contacts.list({ siteId, search, limit: 10 }),
      placeholderData: keepPreviousData,
    }),
  scoringRules: (filter: { siteId: number }) =>
    pagesOf(["scoring", "pages", filter], (page) => api.scoring.listRules({ ...filter, ...page })),
  holidays: (filter: { siteId: number }) =>
    pagesOf(["holidays", "pages", filter], (page) => api.holidays.list({ ...filter, ...page })),
  suppressions: (filter: FilterOf<ListSuppressionsQuery>) =>
    pagesOf(["suppressions", "list", filter], (page) =>
      api.suppressions.list({ ...filter, ...page }),
    ),
  suppressionOf: (email: string) =>
    queryOptions({
      queryKey: ["suppressions", "check", email],
      queryFn: () => api.suppressions.check(email),
    }),
  formPages: (filter: FilterOf<ListFormsQuery>) =>
    pagesOf(["forms", "pages", filter], (page) => api.forms.list({ ...filter, ...page })),
  form: (id: number, version?: number) =>
    queryOptions({
      queryKey: ["forms", "detail", id, version],
      queryFn: () => api.forms.get(id, version ? { version } : {}),
    }),
  submissions: (formId: number) =>
    pagesOf(["forms", "submissions", formId], (page) => api.forms.listSubmissions(formId, page)),
  providers: () =>
    queryOptions({
      queryKey: ["providers", "list"],
      queryFn: () => api.providers.list(),
      staleTime: 60 * minute,
    }),
  sendingConfigs: () =>
    queryOptions({
      queryKey: ["sendingConfigs", "list"],
      queryFn: () => api.sendingConfigs.list({ limit: pageLimit }),
    }),
  domains: () =>
    queryOptions({
      queryKey: ["domains", "list"],
      queryFn: () => api.domains.list({ limit: pageLimit }),
    }),
  domain: (id: number) =>
    queryOptions({
      queryKey: ["domains", "detail", id],
      queryFn: () => api.domains.get(id),
      // DNS answers change while somebody edits them at the registrar.
      refetchInterval: ({ state }) => (state.data?.status === "verified" ? false : 10_000),
    }),
  domainAdvice: (id: number) =>
    queryOptions({
      queryKey: ["domains", "advice", id],
      queryFn: () => api.domains.getAdvice(id),
    }),
  dmarcReports: (id: number) =>
    queryOptions({
      queryKey: ["domains", "dmarc", id],
      queryFn: () => api.domains.getDmarcReports(id, { period: "30d" }),
    }),
  tlsReports: (id: number) =>
    queryOptions({
      queryKey: ["domains", "tls", id],
      queryFn: () => api.domains.getTlsReports(id, { period: "30d" }),
    }),
  postmasterStats: (id: number) =>
    queryOptions({
      queryKey: ["domains", "postmaster", id],
      queryFn: () => api.domains.getPostmasterStats(id, { period: "30d" }),
      refetchInterval: ({ state }) => (state.data?.state === "waiting" ? 3000 : false),
    }),
  postmasterTools: () =>
    queryOptions({
      queryKey: ["postmaster-tools"],
      queryFn: async () => (await api.domains.getPostmasterTools()).postmasterTools,
      refetchInterval: ({ state }) => (state.data?.state === "waiting" ? 3000 : false),
    }),
  compliance: () =>
    queryOptions({
      queryKey: ["compliance", "settings"],
      queryFn: () => api.compliance.getSettings(),
    }),
  branding: () =>
    queryOptions({ queryKey: ["branding"], queryFn: () => api.organization.getBranding() }),
  secondFactors: () =>
    queryOptions({ queryKey: ["mfa", "status"], queryFn: () => api.mfa.getStatus() }),
  totpSecret: () =>
    queryOptions({
      // It belongs to no group: once the app is turned on, there is no new secret to read.
      queryKey: ["totpSecret"],
      queryFn: () => api.mfa.createTotpSecret(),
      staleTime: 0,
      gcTime: 0,
    }),
  systemHealth: () =>
    queryOptions({
      queryKey: ["system", "health"],
      queryFn: () => api.system.getHealth(),
      refetchInterval: 15_000,
    }),
  sessions: () =>
    queryOptions({ queryKey: ["account", "sessions"], queryFn: () => api.account.listSessions() }),
  singleSignOn: () => queryOptions({ queryKey: ["sso", "settings"], queryFn: () => api.sso.get() }),
  plans: () => queryOptions({ queryKey: ["plans", "list"], queryFn: () => api.plans.list() }),
  billingUsage: () =>
    queryOptions({ queryKey: ["billing", "usage"], queryFn: () => api.billing.getUsage() }),
  subscription: () =>
    queryOptions({
      queryKey: ["billing", "subscription"],
      queryFn: () => api.billing.getSubscription(),
    }),
  creditPackages: () =>
    queryOptions({
      queryKey: ["billing", "packages"],
      queryFn: () => api.billing.listCreditPackages(),
    }),
  webhooks: () => pagesOf(["webhooks", "list"], (page) => api.webhooks.list(page)),
  webhook: (id: number) =>
    queryOptions({ queryKey: ["webhooks", "detail", id], queryFn: () => api.webhooks.get(id) }),
  webhookDeliveries: (id: number, filter: FilterOf<ListWebhookDeliveriesQuery>) =>
    pagesOf(["webhooks", "deliveries", id, filter], (page) =>
      api.webhooks.listDeliveries(id, { ...filter, ...page, limit: 50 }),
    ),
  auditEntries: (filter: FilterOf<ListAuditEntriesQuery>) =>
    pagesOf(["audit", "list", filter], (page) =>
      api.auditLog.listAuditEntries({ ...filter, ...page }),
    ),
  requests: (filter: FilterOf<ListRequestsQuery>) => ({
    ...pagesOf(["requests", "list", filter], (page) =>
      api.auditLog.listRequests({ ...filter, ...page }),
    ),
    // Requests are listed up to 20 seconds later. A reader who scrolls back sees no newer ones.
    refetchInterval: ({ state }: { state: { data?: { pages: unknown[] } | undefined } }) =>
      (state.data?.pages.length ?? 0) > 1 ? false : 5_000,
  }),
};
