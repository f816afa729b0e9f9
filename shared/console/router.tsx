import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { AuthenticationError } from "pennymail";
import { queries } from "./data/queries.ts";
import { queryClient } from "./data/query-client.ts";
import { ErrorScreen } from "./parts/error-screen.tsx";
import { NotFoundScreen } from "./parts/not-found-screen.tsx";
import { usePageTitle } from "./shell/page-title.ts";
import { Shell } from "./shell.tsx";

type Search = Record<string, unknown>;

const text = (search: Search, name: string) =>
  typeof search[name] === "string" && search[name] ? { [name]: search[name] } : {};
const number = (search: Search, name: string) =>
  Number.isInteger(search[name]) ? { [name]: search[name] } : {};

/** The id of a record as the last part of an address. */
const idInPath = {
  parse: ({ id }: { id: string }) => ({ id: Number(id) }),
  stringify: ({ id }: { id: number }) => ({ id: String(id) }),
};

const root = createRootRoute({ component: Root, notFoundComponent: NotFoundScreen });

function Root() {
  usePageTitle();
  return <Outlet />;
}

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: (search: Search): { next?: string | undefined } => text(search, "next"),
  component: lazyRouteComponent(() => import("./screens/entry/sign-in.tsx"), "SignIn"),
});
const signUp = createRoute({
  getParentRoute: () => root,
  path: "/sign-up",
  component: lazyRouteComponent(() => import("./screens/entry/sign-up.tsx"), "SignUp"),
});

/**
 * The screens of a signed-in user. Others go to the sign-in, and come back afterwards. The first
 * visitor of a new service goes to the sign-up.
 */
const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  component: Shell,
  beforeLoad: async ({ location }) => {
    await queryClient.ensureQueryData(queries.me()).catch(async (error: unknown) => {
      if (!(error instanceof AuthenticationError)) throw error;
      if (location.pathname !== "/")
        throw redirect({ to: "/sign-in", search: { next: location.href } });
      const signup = await queryClient.ensureQueryData(queries.signup()).catch(() => undefined);
      throw redirect({ to: signup?.first && signup.open ? "/sign-up" : "/sign-in" });
    });
  },
});
const home = createRoute({
  getParentRoute: () => shell,
  path: "/",
  component: lazyRouteComponent(() => import("./screens/home/home.tsx"), "Home"),
});
interface ContactsSearch {
  search?: string | undefined;
  status?: string | undefined;
  list?: number | undefined;
  tag?: number | undefined;
  segment?: number | undefined;
  sort?: string | undefined;
  order?: string | undefined;
  /** The open contact. */
  contact?: number | undefined;
  /** The action on many contacts whose progress is shown. */
  action?: number | undefined;
}

/** Filters and the open contact are part of the address: reload, back and a shared link work. */
const contacts = createRoute({
  getParentRoute: () => shell,
  path: "/contacts",
  validateSearch: (search: Search): ContactsSearch => ({
    ...text(search, "search"),
    ...text(search, "status"),
    ...number(search, "list"),
    ...number(search, "tag"),
    ...number(search, "segment"),
    ...text(search, "sort"),
    ...text(search, "order"),
    ...number(search, "contact"),
    ...number(search, "action"),
  }),
  component: lazyRouteComponent(() => import("./screens/contacts/contacts.tsx"), "Contacts"),
});
const importContacts = createRoute({
  getParentRoute: () => shell,
  path: "/contacts/import",
  validateSearch: (search: Search): { id?: number | undefined } => number(search, "id"),
  component: lazyRouteComponent(() => import("./screens/imports/imports.tsx"), "Imports"),
});
const groups = createRoute({
  getParentRoute: () => shell,
  // Lists, tags or topics.
  path: "/groups/{-$kind}",
  component: lazyRouteComponent(() => import("./screens/groups/groups.tsx"), "Groups"),
});
const segments = createRoute({
  getParentRoute: () => shell,
  path: "/segments",
  component: lazyRouteComponent(() => import("./screens/segments/segments.tsx"), "Segments"),
});
const newSegment = createRoute({
  getParentRoute: () => shell,
  path: "/segments/new",
  component: lazyRouteComponent(
    () => import("./screens/segments/segment-screen.tsx"),
    "NewSegment",
  ),
});
const segment = createRoute({
  getParentRoute: () => shell,
  path: "/segments/$id",
  params: idInPath,
  component: lazyRouteComponent(
    () => import("./screens/segments/segment-screen.tsx"),
    "SegmentScreen",
  ),
});
const forms = createRoute({
  getParentRoute: () => shell,
  path: "/forms",
  component: lazyRouteComponent(() => import("./screens/forms/forms.tsx"), "Forms"),
});
const form = createRoute({
  getParentRoute: () => shell,
  path: "/forms/$id",
  params: idInPath,
  component: lazyRouteComponent(() => import("./screens/forms/form-designer.tsx"), "FormDesigner"),
});
const submissions = createRoute({
  getParentRoute: () => shell,
  path: "/forms/$id/submissions",
  params: idInPath,
  validateSearch: (search: Search): { submission?: number | undefined } =>
    number(search, "submission"),
  component: lazyRouteComponent(() => import("./screens/forms/submissions.tsx"), "Submissions"),
});
interface SuppressionsSearch {
  /** The address that is looked up. */
  email?: string | undefined;
  reason?: string | undefined;
}

const suppressions = createRoute({
  getParentRoute: () => shell,
  path: "/suppressions",
  validateSearch: (search: Search): SuppressionsSearch => ({
    ...text(search, "email"),
    ...text(search, "reason"),
  }),
  component: lazyRouteComponent(
    () => import("./screens/suppressions/suppressions.tsx"),
    "Suppressions",
  ),
});
const settings = createRoute({
  getParentRoute: () => shell,
  // Without a section, the first that the user may open.
  path: "/settings/{-$section}",
  component: lazyRouteComponent(() => import("./screens/settings/settings.tsx"), "Settings"),
});

interface LogSearch {
  email?: string | undefined;
  status?: string | undefined;
  /** The open send. */
  send?: number | undefined;
}

const log = createRoute({
  getParentRoute: () => shell,
  path: "/log",
  validateSearch: (search: Search): LogSearch => ({
    ...text(search, "email"),
    ...text(search, "status"),
    ...number(search, "send"),
  }),
  component: lazyRouteComponent(() => import("./screens/log/log.tsx"), "Log"),
});
interface EventsSearch {
  email?: string | undefined;
  type?: string | undefined;
}

const events = createRoute({
  getParentRoute: () => shell,
  path: "/log/events",
  validateSearch: (search: Search): EventsSearch => ({
    ...text(search, "email"),
    ...text(search, "type"),
  }),
  component: lazyRouteComponent(() => import("./screens/log/events.tsx"), "Events"),
});
const unmatchedEvents = createRoute({
  getParentRoute: () => shell,
  path: "/log/unmatched",
  component: lazyRouteComponent(
    () => import("./screens/log/unmatched-events.tsx"),
    "UnmatchedEvents",
  ),
});
const secureMessages = createRoute({
  getParentRoute: () => shell,
  path: "/log/secure",
  component: lazyRouteComponent(
    () => import("./screens/log/secure-messages.tsx"),
    "SecureMessages",
  ),
});
const inboundEmails = createRoute({
  getParentRoute: () => shell,
  path: "/log/inbound",
  component: lazyRouteComponent(() => import("./screens/log/inbound-emails.tsx"), "InboundEmails"),
});
const scoring = createRoute({
  getParentRoute: () => shell,
  path: "/scoring",
  component: lazyRouteComponent(() => import("./screens/scoring/scoring.tsx"), "Scoring"),
});
const holidays = createRoute({
  getParentRoute: () => shell,
  path: "/sequences/holidays",
  component: lazyRouteComponent(() => import("./screens/holidays/holidays.tsx"), "Holidays"),
});
const reports = createRoute({
  getParentRoute: () => shell,
  // Without a name, the report on delivery.
  path: "/reports/{-$report}",
  component: lazyRouteComponent(() => import("./screens/reports/reports.tsx"), "Reports"),
});
const webhooks = createRoute({
  getParentRoute: () => shell,
  path: "/webhooks",
  validateSearch: (search: Search): { webhook?: number | undefined } => number(search, "webhook"),
  component: lazyRouteComponent(() => import("./screens/operate/webhooks.tsx"), "Webhooks"),
});

interface AuditLogSearch {
  /** `user:3`. */
  actor?: string | undefined;
  /** The open entry. */
  entry?: string | undefined;
}

const auditLog = createRoute({
  getParentRoute: () => shell,
  path: "/log/changes",
  validateSearch: (search: Search): AuditLogSearch => ({
    ...text(search, "actor"),
    ...text(search, "entry"),
  }),
  component: lazyRouteComponent(() => import("./screens/operate/audit-log.tsx"), "AuditLog"),
});

interface RequestLogSearch {
  status?: string | undefined;
  key?: number | undefined;
  /** The open request. */
  request?: string | undefined;
}

const requestLog = createRoute({
  getParentRoute: () => shell,
  path: "/log/requests",
  validateSearch: (search: Search): RequestLogSearch => ({
    ...text(search, "status"),
    ...number(search, "key"),
    ...text(search, "request"),
  }),
  component: lazyRouteComponent(() => import("./screens/operate/request-log.tsx"), "RequestLog"),
});
interface CampaignsSearch {
  search?: string | undefined;
  status?: string | undefined;
  view?: "calendar" | undefined;
  /** The month of the calendar, such as 2026-12. */
  month?: string | undefined;
}

const campaigns = createRoute({
  getParentRoute: () => shell,
  path: "/campaigns",
  validateSearch: (search: Search): CampaignsSearch => ({
    ...text(search, "search"),
    ...text(search, "status"),
    ...(search.view === "calendar" && { view: search.view }),
    ...(/^20\d\d-(0[1-9]|1[0-2])$/.test(String(search.month)) && text(search, "month")),
  }),
  component: lazyRouteComponent(() => import("./screens/campaigns/campaigns.tsx"), "Campaigns"),
});
const recurring = createRoute({
  getParentRoute: () => shell,
  path: "/recurring/$id",
  params: idInPath,
  component: lazyRouteComponent(
    () => import("./screens/campaigns/series/series-screen.tsx"),
    "SeriesScreen",
  ),
});
const campaign = createRoute({
  getParentRoute: () => shell,
  path: "/campaigns/$id",
  params: idInPath,
  component: lazyRouteComponent(
    () => import("./screens/campaigns/campaign-screen.tsx"),
    "CampaignScreen",
  ),
});
const campaignEmail = createRoute({
  getParentRoute: () => shell,
  path: "/campaigns/$id/email",
  params: idInPath,
  component: lazyRouteComponent(
    () => import("./screens/campaigns/campaign-email.tsx"),
    "CampaignEmail",
  ),
});
const sequences = createRoute({
  getParentRoute: () => shell,
  path: "/sequences",
  validateSearch: (search: Search): { status?: string | undefined } => text(search, "status"),
  component: lazyRouteComponent(() => import("./screens/sequences/sequences.tsx"), "Sequences"),
});

interface SequencePath {
  id: number;
  /** "contacts" or "settings"; without a part, the steps. */
  part?: string | undefined;
}
interface SequenceSearch {
  /** The step whose panel is open, or of which the contacts are listed. */
  step?: string | number | undefined;
  /** The figure of the step whose contacts are listed in the panel. */
  people?: string | undefined;
  /** The steps as a list or as a drawing. */
  view?: string | undefined;
  /** Status of the listed contacts. */
  status?: string | undefined;
}

const sequence = createRoute({
  getParentRoute: () => shell,
  path: "/sequences/$id/{-$part}",
  params: {
    parse: ({ id, part }: { id: string; part?: string | undefined }): SequencePath => ({
      id: Number(id),
      part,
    }),
    stringify: ({ id, part }: SequencePath) => ({ id: String(id), part }),
  },
  validateSearch: (search: Search): SequenceSearch => ({
    ...text(search, "step"),
    ...number(search, "step"),
    ...text(search, "people"),
    ...text(search, "view"),
    ...text(search, "status"),
  }),
  component: lazyRouteComponent(
    () => import("./screens/sequences/sequence-screen.tsx"),
    "SequenceScreen",
  ),
});
interface TemplatesSearch {
  view?: "grid" | "list" | undefined;
  search?: string | undefined;
  folder?: number | undefined;
}

const templates = createRoute({
  getParentRoute: () => shell,
  path: "/templates",
  validateSearch: (search: Search): TemplatesSearch => ({
    ...text(search, "search"),
    ...number(search, "folder"),
    ...((search.view === "grid" || search.view === "list") && { view: search.view }),
  }),
  component: lazyRouteComponent(() => import("./screens/templates/templates.tsx"), "Templates"),
});
const media = createRoute({
  getParentRoute: () => shell,
  path: "/media",
  validateSearch: (search: Search): { search?: string | undefined } => text(search, "search"),
  component: lazyRouteComponent(() => import("./screens/media/media.tsx"), "MediaScreen"),
});
const template = createRoute({
  getParentRoute: () => shell,
  path: "/templates/$id",
  params: idInPath,
  component: lazyRouteComponent(
    () => import("./screens/templates/template-editor.tsx"),
    "TemplateScreen",
  ),
});

const snippets = createRoute({
  getParentRoute: () => shell,
  path: "/snippets",
  validateSearch: (search: Search): { search?: string | undefined } => text(search, "search"),
  component: lazyRouteComponent(
    () => import("./screens/templates/snippets/snippets.tsx"),
    "Snippets",
  ),
});
const snippet = createRoute({
  getParentRoute: () => shell,
  path: "/snippets/$id",
  params: idInPath,
  component: lazyRouteComponent(
    () => import("./screens/templates/snippets/snippet-screen.tsx"),
    "SnippetScreen",
  ),
});

export const router = createRouter({
  basepath: "/app",
  routeTree: root.addChildren([
    signIn,
    signUp,
    shell.addChildren([
      home,
      contacts,
      importContacts,
      groups,
      segments,
      newSegment,
      segment,
      forms,
      form,
      submissions,
      suppressions,
      campaigns,
      campaign,
      campaignEmail,
      recurring,
      sequences,
      sequence,
      templates,
      template,
      snippets,
      snippet,
      media,
      scoring,
      holidays,
      log,
      events,
      unmatchedEvents,
      secureMessages,
      inboundEmails,
      reports,
      webhooks,
      auditLog,
      requestLog,
      settings,
    ]),
  ]),
  defaultPreload: "intent",
  defaultErrorComponent: ErrorScreen,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
