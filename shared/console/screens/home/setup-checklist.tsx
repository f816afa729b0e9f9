// From a new account to the first email: one step is open at a time.

import { Accordion, Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { SetupChecklist as Setup } from "pennymail";
import { type ReactNode, useState } from "react";
import { useMe } from "../../data/session.ts";
import { readStored, writeStored } from "../../data/stored-choice.ts";
import { t } from "../../language/translate.ts";
import { tNodes } from "../../language/translate-nodes.ts";
import { Card } from "../../parts/card.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { ReportsForm } from "./reports-step.tsx";
import {
  AddressForm,
  DomainForm,
  FirstSendForm,
  SendingConfigForm,
  SiteForm,
  VerifyForm,
} from "./setup-steps.tsx";

type Step = Setup["steps"][number];

export interface StepProps {
  step: Step;
  /** Opens another step. */
  onOpen(key: Step["key"]): void;
}

interface StepText {
  title: string;
  Form(props: StepProps): ReactNode;
}

const texts: Record<Step["key"], StepText> = {
  site: { title: t("Name the site or brand that you send for"), Form: SiteForm },
  sending_config: { title: t("Connect your email provider"), Form: SendingConfigForm },
  domain: { title: t("Prove that the sender's domain is yours"), Form: DomainForm },
  verified_sender: { title: t("Send a test email through the provider"), Form: VerifyForm },
  provider_reports: { title: t("Let the provider report what happens"), Form: ReportsForm },
  postal_address: { title: t("Add a postal address for the footer"), Form: AddressForm },
  first_send: { title: t("Send your first email"), Form: FirstSendForm },
};

interface SetupChecklistProps {
  setup: Setup;
  /** Whether the organization has sent a campaign. */
  isEstablished: boolean;
}

/** Stays until all steps are done or the reader hides it. It ends with what comes next. */
export function SetupChecklist({ setup: { steps }, isEstablished }: SetupChecklistProps) {
  const key = `pennymail-setup-hidden-${useMe().organization.id}`;
  const [isHidden, setHidden] = useState(readStored(key) === "yes");
  const [chosen, setChosen] = useState<string | null>();
  const hide = (hidden: boolean) => {
    writeStored(key, hidden ? "yes" : "no");
    setHidden(hidden);
  };
  const open = steps.filter((step) => !step.done);
  const isSent = steps.some((step) => step.key === "first_send" && step.done);
  if (open.length === 0 && isEstablished) return null;
  if (isHidden)
    return open.length === 0 ? null : (
      <p className="quiet">
        {tNodes("{open} of {count} steps of the set-up are not done. <button>Show them</button>", {
          open: open.length,
          count: steps.length,
          button: (text) => (
            <Button variant="default" size="compact-xs" onClick={() => hide(false)}>
              {text}
            </Button>
          ),
        })}
      </p>
    );
  return (
    <Card title={t("Set up")}>
      <p className="quiet" role="status">
        {t("{done} of {count} steps are done.", {
          done: steps.length - open.length,
          count: steps.length,
        })}{" "}
        {isSent && t("Your first email has left.")}
      </p>
      <Accordion
        value={chosen === undefined ? (open[0]?.key ?? null) : chosen}
        onChange={setChosen}
      >
        {steps.map((step) => (
          <Accordion.Item key={step.key} value={step.key}>
            <Accordion.Control>
              <span className="setup-step">
                <StatusMark status={stateOf(step)} tone={step.done ? "good" : "quiet"} />
                {texts[step.key].title}
              </span>
            </Accordion.Control>
            <Accordion.Panel>
              <StepForm step={step} onOpen={setChosen} />
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
      {isSent && <NextSteps />}
      {isSent && (
        <div className="buttons">
          <Button variant="default" size="xs" onClick={() => hide(true)}>
            {t("Hide the set-up")}
          </Button>
        </div>
      )}
    </Card>
  );
}

function stateOf({ done, required }: Step): string {
  if (done) return t("Done");
  return required ? t("To do") : t("Advised");
}

function StepForm(props: StepProps) {
  const { Form } = texts[props.step.key];
  return <Form {...props} />;
}

function NextSteps() {
  return (
    <>
      <h3>{t("What comes next")}</h3>
      <ul className="bullets">
        <li>
          <Link to="/contacts/import">{t("Import your contacts")}</Link>
        </li>
        <li>
          <Link to="/templates">{t("Design an email")}</Link>
        </li>
        <li>
          <Link to="/settings/{-$section}" params={{ section: "members" }}>
            {t("Invite your team")}
          </Link>
        </li>
      </ul>
    </>
  );
}
