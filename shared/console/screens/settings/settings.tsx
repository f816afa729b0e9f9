import { Skeleton } from "@mantine/core";
import { Link, useParams } from "@tanstack/react-router";
import { Suspense, useEffect, useRef } from "react";
import { useMe } from "../../data/session.ts";
import { capitalize } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { PageHead } from "../../parts/page-head.tsx";
import { type Section, useSections } from "./sections.ts";

export function Settings() {
  const { organization } = useMe();
  const { section } = useParams({ strict: false });
  const allowed = useSections();
  const open = allowed.find(([key]) => key === section) ?? allowed[0];
  const openTab = open?.[1].under ?? open?.[0];
  const tabs = useRef<HTMLElement>(null);
  // A phone shows the list as tabs, and has no room for all of them.
  useEffect(() => {
    tabs.current
      ?.querySelector("[aria-current]")
      ?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [openTab]);
  return (
    <div className="page">
      <PageHead
        title={t("Settings")}
        note={t("{name}, {plan} plan", {
          name: organization.name,
          plan: capitalize(organization.plan),
        })}
      />
      <div className="settings">
        <nav ref={tabs} className="tabs sticky" aria-label={t("Settings")}>
          {allowed
            .filter(([, { under }]) => under === undefined)
            .map(([key, { label }]) => (
              <Link
                key={key}
                to="/settings/{-$section}"
                params={{ section: key }}
                aria-current={key === openTab ? "page" : undefined}
              >
                {label}
              </Link>
            ))}
        </nav>
        <div className="settings-section">
          {open ? (
            <Suspense fallback={<Skeleton h={200} />}>
              <SectionScreen Screen={open[1].Screen} />
            </Suspense>
          ) : (
            <p className="quiet">{t("Your role has no settings here.")}</p>
          )}
        </div>
      </div>
    </div>
  );
}

const SectionScreen = ({ Screen }: Pick<Section, "Screen">) => <Screen />;
