import { type ComponentType, lazy } from "react";
import { useMe, useRights } from "../../data/session.ts";
import { t } from "../../language/translate.ts";

export interface Section {
  label: string;
  /** The right that its first request needs; undefined if every member may open it. */
  right?: string;
  isForOperators?: true;
  /** The page whose tab leads to it, because it has none of its own. */
  under?: string;
  /** Further words that lead to it in the search. */
  words: string;
  Screen: ComponentType;
}

/** Every page of the settings, by the last part of its address. */
const sections: Record<string, Section> = {
  members: {
    label: t("Members"),
    words: t("invite team users roles"),
    right: "team:read",
    Screen: lazy(async () => ({ default: (await import("./members.tsx")).Members })),
  },
  keys: {
    label: t("API keys"),
    words: t("programs token"),
    right: "credentials:read",
    Screen: lazy(async () => ({ default: (await import("./api-keys.tsx")).ApiKeys })),
  },
  senders: {
    label: t("Senders"),
    words: t("provider from address sending config webhook"),
    right: "sending:read",
    Screen: lazy(async () => ({ default: (await import("./senders.tsx")).Senders })),
  },
  domains: {
    label: t("Domains"),
    words: t("dns spf dkim dmarc"),
    right: "sending:read",
    Screen: lazy(async () => ({ default: (await import("./domains.tsx")).Domains })),
  },
  postmaster: {
    label: t("Google Postmaster Tools"),
    under: "domains",
    words: t("gmail spam rate service account key"),
    right: "sending:read",
    Screen: lazy(async () => ({
      default: (await import("./postmaster-tools.tsx")).PostmasterToolsScreen,
    })),
  },
  inbound: {
    label: t("Inbound"),
    words: t("receive replies bounce mailbox imap forward mx"),
    right: "credentials:read",
    Screen: lazy(async () => ({ default: (await import("./inbound.tsx")).InboundSettingsScreen })),
  },
  sites: {
    label: t("Sites"),
    words: t("brands frequency cap"),
    right: "organization:read",
    Screen: lazy(async () => ({ default: (await import("./sites.tsx")).Sites })),
  },
  brand: {
    label: t("Brand"),
    words: t("logo colours fonts corners social links footer language look"),
    right: "organization:read",
    Screen: lazy(async () => ({ default: (await import("./brand.tsx")).BrandSettings })),
  },
  compliance: {
    label: t("Compliance"),
    words: t("postal address footer unsubscribe branding"),
    right: "organization:read",
    Screen: lazy(async () => ({ default: (await import("./compliance.tsx")).ComplianceSettings })),
  },
  organization: {
    label: t("Organization"),
    words: t("name time zone sign out"),
    right: "organization:read",
    Screen: lazy(async () => ({
      default: (await import("./organization.tsx")).OrganizationSettings,
    })),
  },
  billing: {
    label: t("Billing"),
    words: t("plan credits invoice payment usage"),
    right: "payment:read",
    Screen: lazy(async () => ({ default: (await import("./billing.tsx")).Billing })),
  },
  "single-sign-on": {
    label: t("Single sign-on"),
    words: t("sso login identity provider"),
    right: "login:read",
    Screen: lazy(async () => ({ default: (await import("./single-sign-on.tsx")).SingleSignOn })),
  },
  security: {
    label: t("Your security"),
    words: t("password two-step second factor mfa authenticator recovery codes sessions"),
    Screen: lazy(async () => ({ default: (await import("./security.tsx")).Security })),
  },
  system: {
    label: t("System"),
    words: t("health operator queues dead letters lanes schedules version"),
    isForOperators: true,
    Screen: lazy(async () => ({ default: (await import("./system.tsx")).System })),
  },
};

/** The pages that the user may open, with the last part of their address. */
export function useSections(): [key: string, section: Section][] {
  const has = useRights();
  const { isOperator } = useMe().auth;
  return Object.entries(sections).filter(
    ([, { right, isForOperators }]) => (!right || has(right)) && (isOperator || !isForOperators),
  );
}
