import { Skeleton } from "@mantine/core";
import { Link, useParams } from "@tanstack/react-router";
import { type ComponentType, lazy, Suspense } from "react";
import { useMe, useRights } from "../../data/session.ts";
import { PageHead } from "../../parts/page-head.tsx";

interface Section {
  label: string;
  /** The right that its first request needs; undefined if every member may open it. */
  right?: string;
  Screen: ComponentType;
}

/** Every page of the settings, by the last part of its address. */
const sections: Record<string, Section> = {
  members: {
    label: "Members",
    right: "team:read",
    Screen: lazy(async () => ({ default: (await import("./members.tsx")).Members })),
  },
  keys: {
    label: "API keys",
    right: "credentials:read",
    Screen: lazy(async () => ({ default: (await import("./api-keys.tsx")).ApiKeys })),
  },
  senders: {
    label: "Senders",
    right: "sending:read",
    Screen: lazy(async () => ({ default: (await import("./senders.tsx")).Senders })),
  },
  domains: {
    label: "Domains",
    right: "sending:read",
    Screen: lazy(async () => ({ default: (await import("./domains.tsx")).Domains })),
  },
  sites: {
    label: "Sites",
    right: "organization:read",
    Screen: lazy(async () => ({ default: (await import("./sites.tsx")).Sites })),
  },
  compliance: {
    label: "Compliance",
    right: "organization:read",
    Screen: lazy(async () => ({ default: (await import("./compliance.tsx")).ComplianceSettings })),
  },
  organization: {
    label: "Organization",
    right: "organization:read",
    Screen: lazy(async () => ({
      default: (await import("./organization.tsx")).OrganizationSettings,
    })),
  },
  billing: {
    label: "Billing",
    right: "payment:read",
    Screen: lazy(async () => ({ default: (await import("./billing.tsx")).Billing })),
  },
  "single-sign-on": {
    label: "Single sign-on",
    right: "login:read",
    Screen: lazy(async () => ({ default: (await import("./single-sign-on.tsx")).SingleSignOn })),
  },
  security: {
    label: "Your security",
    Screen: lazy(async () => ({ default: (await import("./security.tsx")).Security })),
  },
};

export function Settings() {
  const { organization } = useMe();
  const has = useRights();
  const { section } = useParams({ strict: false });
  const allowed = Object.entries(sections).filter(([, { right }]) => !right || has(right));
  const open = allowed.find(([key]) => key === section) ?? allowed[0];
  return (
    <div className="page">
      <PageHead title="Settings" note={`${organization.name}, plan ${organization.plan}`} />
      <nav className="tabs" aria-label="Settings">
        {allowed.map(([key, { label }]) => (
          <Link
            key={key}
            to="/settings/{-$section}"
            params={{ section: key }}
            aria-current={key === open?.[0] ? "page" : undefined}
          >
            {label}
          </Link>
        ))}
      </nav>
      {open ? (
        <Suspense fallback={<Skeleton h={200} />}>
          <SectionScreen Screen={open[1].Screen} />
        </Suspense>
      ) : (
        <p className="quiet">Your role has no settings here.</p>
      )}
    </div>
  );
}

const SectionScreen = ({ Screen }: Pick<Section, "Screen">) => <Screen />;
