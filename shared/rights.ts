// Rights and roles. A caller has scopes. A scope is a right such as `audience:read`, the routes of
// one first path segment such as `contacts:read`, or `*` for everything. Each route declares the
// right it needs. A role is a list of rights: sessions have the scopes of their role, API keys
// those that they were created with.

export const rights = [
  "account:read",
  "account:write",
  "audience:read",
  "audience:write",
  "audience:export",
  "content:read",
  "content:write",
  "marketing:read",
  "marketing:write",
  "marketing:notice",
  "sending:read",
  "sending:write",
  "sending:content",
  "statistics:read",
  "statistics:write",
  "credentials:read",
  "credentials:write",
  "organization:read",
  "organization:write",
  "audit:read",
  "team:read",
  "team:write",
  "payment:read",
  "payment:write",
  "login:read",
  "login:write",
] as const;
export type Right = (typeof rights)[number];

type Area = Right extends `${infer A}:${string}` ? A : never;
/** The rights that the routes of a group need. The first is the default of a route. */
interface GroupRights {
  read: Right[];
  write: Right[];
}

const rightsIn = (area: Exclude<Area, "audit">): GroupRights => ({
  read: [`${area}:read`],
  write: [`${area}:write`],
});
/** Everybody who sends or plans email reads these, because they choose the sender. */
const senderRights: GroupRights = { read: ["sending:read"], write: ["credentials:write"] };

/** By the first path segment of the routes. A test compares them with the routes. */
export const groupRights: Record<string, GroupRights> = {
  analytics: rightsIn("statistics"),
  "api-keys": rightsIn("credentials"),
  attention: rightsIn("organization"),
  "audit-log": { read: ["audit:read"], write: [] },
  // Developers upload attachments, and marketers upload import files.
  attachments: rightsIn("content"),
  auth: rightsIn("account"),
  billing: rightsIn("payment"),
  // Notices go to contacts who unsubscribed, so sending them needs a right of its own.
  campaigns: { read: ["marketing:read"], write: ["marketing:write", "marketing:read"] },
  "campaign-series": { read: ["marketing:read"], write: ["marketing:write", "marketing:read"] },
  compliance: rightsIn("organization"),
  "contact-actions": rightsIn("audience"),
  "contact-fields": rightsIn("audience"),
  contacts: { read: ["audience:read", "audience:export"], write: ["audience:write"] },
  dashboard: rightsIn("statistics"),
  domains: senderRights,
  events: { read: ["sending:read", "audience:read"], write: ["audience:write"] },
  exports: { read: ["audience:export"], write: ["audience:export"] },
  forms: rightsIn("audience"),
  holidays: rightsIn("marketing"),
  imports: { read: ["audience:read", "audience:export"], write: ["audience:write"] },
  // Replies can contain as much as emails.
  "inbound-emails": { read: ["sending:read", "sending:content"], write: [] },
  // The URLs are secrets.
  "inbound-settings": { read: ["credentials:read"], write: ["credentials:write"] },
  invitations: rightsIn("team"),
  // Each job needs the right of its own endpoint, too.
  jobs: { read: ["organization:read"], write: [] },
  lists: rightsIn("audience"),
  media: rightsIn("content"),
  members: rightsIn("team"),
  mfa: rightsIn("account"),
  org: rightsIn("organization"),
  plans: rightsIn("payment"),
  "postmaster-tools": senderRights,
  providers: senderRights,
  "rate-limit": rightsIn("organization"),
  // Some reports list contacts.
  reports: { read: ["statistics:read", "audience:read"], write: ["statistics:write"] },
  "request-log": rightsIn("credentials"),
  roles: rightsIn("team"),
  scoring: rightsIn("audience"),
  "secure-messages": rightsIn("sending"),
  segment: { read: [], write: ["audience:write"] },
  segments: { read: ["audience:read"], write: ["audience:write", "audience:read"] },
  send: rightsIn("sending"),
  "sender-check": rightsIn("sending"),
  "sending-configs": senderRights,
  // Emails can contain links that log in, so their content needs a right of its own.
  sends: { read: ["sending:read", "sending:content"], write: ["sending:write"] },
  sequences: { read: ["marketing:read"], write: ["marketing:write", "marketing:read"] },
  settings: { read: ["account:read"], write: ["account:write", "organization:write"] },
  sites: rightsIn("organization"),
  sso: rightsIn("login"),
  "stock-photos": rightsIn("content"),
  suppressions: { read: ["audience:read", "audience:export"], write: ["audience:write"] },
  // The handler asks for an operator.
  system: { read: ["account:read"], write: [] },
  tags: rightsIn("audience"),
  snippets: { read: ["content:read"], write: ["content:write", "content:read"] },
  "template-folders": rightsIn("content"),
  templates: { read: ["content:read"], write: ["content:write", "content:read"] },
  topics: rightsIn("audience"),
  validate: rightsIn("audience"),
  webhooks: rightsIn("credentials"),
  why: rightsIn("sending"),
};

export const allScopes = "*";

const isRight = (scope: string): scope is Right => (rights as readonly string[]).includes(scope);

/** Undefined for a scope that does not exist. */
export function rightsOfScope(scope: string): readonly Right[] | undefined {
  if (scope === allScopes) return rights;
  if (isRight(scope)) return [scope];
  const [group = "", action = ""] = scope.split(":");
  if (action !== "read" && action !== "write") return undefined;
  return Object.hasOwn(groupRights, group) ? groupRights[group]![action] : undefined;
}

/** Whether a caller with `scopes` may call a route that needs the right. */
export const permits = (
  scopes: readonly string[],
  { right, scope }: { right: Right | undefined; scope: string },
): boolean =>
  scopes.includes(allScopes) ||
  scopes.includes(scope) ||
  (right !== undefined && scopes.includes(right));

/** Whether a caller with `scopes` has everything that `scope` permits, and so may grant it. */
export const includesScope = (scopes: readonly string[], scope: string): boolean =>
  scopes.includes(allScopes) ||
  scopes.includes(scope) ||
  (scope !== allScopes && (rightsOfScope(scope) ?? []).every((right) => scopes.includes(right)));

export const roleNames = ["owner", "admin", "marketer", "developer", "viewer"] as const;
export type RoleName = (typeof roleNames)[number];

interface Role {
  scopes: readonly string[];
}

const ownAccount = ["account:read", "account:write"] as const satisfies Right[];
const everyView = [
  "audience:read",
  "content:read",
  "marketing:read",
  "sending:read",
  "statistics:read",
  "organization:read",
  "team:read",
] as const satisfies Right[];

export const roles: Record<RoleName, Role> = {
  owner: {
    scopes: [allScopes],
  },
  admin: {
    // A user who sets the provider of the single sign-on can log in as any member, also an owner.
    scopes: rights.filter((right) => right !== "payment:write" && right !== "login:write"),
  },
  marketer: {
    scopes: [
      ...ownAccount,
      ...everyView,
      "audience:write",
      "audience:export",
      "content:write",
      "marketing:write",
      "statistics:write",
    ],
  },
  developer: {
    scopes: [
      ...ownAccount,
      ...everyView,
      "audience:write",
      "content:write",
      "sending:write",
      "sending:content",
      "credentials:read",
      "credentials:write",
    ],
  },
  viewer: {
    scopes: [...ownAccount, ...everyView],
  },
};
