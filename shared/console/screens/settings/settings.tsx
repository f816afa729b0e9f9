import { Skeleton } from "@mantine/core";
import { Link, useParams } from "@tanstack/react-router";
import { type ComponentType, lazy, Suspense } from "react";
import { useMe } from "../../data/session.ts";
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
};

export function Settings() {
  const { organization, auth } = useMe();
  const { section } = useParams({ strict: false });
  const allowed = Object.entries(sections).filter(
    ([, { right }]) => !right || auth.scopes.includes("*") || auth.scopes.includes(right),
  );
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
