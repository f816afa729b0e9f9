import { Modal, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Playbook, Site } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { sequenceQueries } from "../../data/sequence-queries.ts";
import { ofService, t } from "../../language/translate.ts";
import { Form } from "../../parts/form.tsx";
import { useTextField } from "../../parts/text-field.ts";

interface NewSequenceProps {
  site: Site;
  onClose(): void;
}

/** Begins with a playbook, which brings steps and texts, or with nothing. */
export function NewSequence({ site, onClose }: NewSequenceProps) {
  const { data, error } = useQuery(sequenceQueries.playbooks());
  const [chosen, setChosen] = useState<Playbook | "empty">("empty");
  const name = useTextField();
  const url = useTextField(site.domain ? `https://${site.domain}` : "");
  const navigate = useNavigate();
  const isEmpty = chosen === "empty";
  const creating = useChange({
    run: async () => {
      if (isEmpty) return api.sequences.create({ siteId: site.id, name: name.value });
      const { sequence } = await api.sequences.createFromPlaybook(chosen.id, {
        siteId: site.id,
        ...(name.value && { name: name.value }),
        ...(url.value && { url: url.value }),
      });
      return sequence;
    },
    refreshes: ["sequences", "templates"],
    onDone: ({ id }) => navigate({ to: "/sequences/$id/{-$part}", params: { id } }),
  });
  return (
    <Modal opened onClose={onClose} title={t("New sequence")} size="xl" lockScroll={false}>
      <Form action={t("Create sequence")} submission={creating} error={error}>
        <fieldset className="plain-fieldset playbooks">
          <legend className="visually-hidden">{t("Begin with")}</legend>
          <PlaybookChoice
            title={t("Empty sequence")}
            text={t("Add your own steps.")}
            isChosen={isEmpty}
            onChoose={() => setChosen("empty")}
          />
          {data?.playbooks.map((playbook) => (
            <PlaybookChoice
              key={playbook.id}
              title={ofService(playbook.name)}
              text={firstSentence(playbook.description)}
              extent={extentOf(playbook)}
              isChosen={chosen === playbook}
              onChoose={() => setChosen(playbook)}
            />
          ))}
        </fieldset>
        {!isEmpty && <p>{plainText(chosen.description)}</p>}
        <TextInput
          label={isEmpty ? t("Name") : t("Name (optional)")}
          description={isEmpty ? t("For your team. Recipients do not see it.") : undefined}
          placeholder={isEmpty ? undefined : ofService(chosen.name)}
          required={isEmpty}
          data-autofocus
          data-field="name"
          {...name.input}
        />
        {!isEmpty && (
          <TextInput
            type="url"
            label={t("Link of the buttons in the emails (optional)")}
            placeholder="https://shop.example"
            data-field="url"
            {...url.input}
          />
        )}
        {!isEmpty && (
          <p className="quiet">
            {t(
              "The sequence begins as a draft. Its emails become templates, which " +
                "you can change first.",
            )}
          </p>
        )}
      </Form>
    </Modal>
  );
}

/** Descriptions mark names as Markdown does. */
const plainText = (description: string): string => ofService(description.replaceAll("`", ""));
const firstSentence = (description: string): string =>
  plainText(/^.*?\.(?=\s|$)/.exec(description)?.[0] ?? description);

const extentOf = ({ emails, days }: Playbook): string =>
  days > 0
    ? t("{emails} emails in {days} days", { emails, days: Math.ceil(days) })
    : t("{emails} emails", { emails });

interface PlaybookChoiceProps {
  title: string;
  text: string;
  extent?: string;
  isChosen: boolean;
  onChoose(): void;
}

function PlaybookChoice({ title, text, extent, isChosen, onChoose }: PlaybookChoiceProps) {
  return (
    <label className="playbook">
      <input type="radio" name="playbook" checked={isChosen} onChange={onChoose} />
      <span>
        <b>{title}</b> {extent && <small>{extent}</small>}
        <span>{text}</span>
      </span>
    </label>
  );
}
