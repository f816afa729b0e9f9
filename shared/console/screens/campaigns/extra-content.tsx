import { Button, FileButton } from "@mantine/core";
import type { CampaignDetail } from "pennymail";
import { useState } from "react";
import { formatBytes } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { ReadableError } from "../../parts/readable-error.ts";
import { SavedText } from "../../parts/saved-text.tsx";
import type { ChoiceProps } from "./campaign-draft.tsx";
import { PairLines, readValue } from "./pair-lines.tsx";

/** Attached files, values of the template and headers: the same for every recipient. */
export function ExtraContent({ campaign, onChange }: ChoiceProps) {
  return (
    <>
      <Attachments campaign={campaign} onChange={onChange} />
      <PairLines
        label={t("Values for the template (optional)")}
        description={t("A name and a value in each line. The template shows them as {{ name }}.")}
        placeholder="season: Spring"
        value={campaign.variables}
        read={readValue}
        onSave={(variables) => onChange({ variables })}
      />
      <SavedText
        label={t("Address of a data feed (optional)")}
        description={t("It is read once when sending starts. The template shows it as {{ feed }}.")}
        placeholder="https://shop.example/offers.json"
        maxLength={2048}
        value={campaign.feedUrl}
        onSave={(feedUrl) => onChange({ feedUrl })}
      />
      <PairLines
        label={t("Email headers (optional)")}
        description={t("A name and a value in each line. Most campaigns need none.")}
        placeholder="X-Issue: 42"
        value={campaign.headers}
        read={(text) => text}
        onSave={(headers) => onChange({ headers: headers as CampaignDetail["headers"] })}
      />
    </>
  );
}

const maxBytes = 2 * 1024 * 1024;

function Attachments({ campaign: { attachments }, onChange }: ChoiceProps) {
  const [problem, setProblem] = useState("");
  const kept = (removed?: number) =>
    attachments.filter(({ id }) => id !== removed).map(({ id }) => ({ id }));
  const add = async (files: File[]) => {
    const all = [...attachments, ...files];
    if (all.reduce((sum, { size }) => sum + size, 0) > maxBytes)
      return setProblem(t("All files together can have up to 2 MB."));
    setProblem("");
    const added = files.map(async (file) => ({
      filename: file.name,
      ...(file.type && { type: file.type }),
      content: await readBase64(file),
    }));
    onChange({ attachments: [...kept(), ...(await Promise.all(added))] });
  };
  return (
    <section className="stack" aria-label={t("Attached files")}>
      <h3>{t("Attached files")}</h3>
      {attachments.length > 0 && (
        <ul className="attachments">
          {attachments.map(({ id, filename, size }) => (
            <li key={id}>
              <span>
                {filename} <span className="quiet">{formatBytes(size)}</span>
              </span>
              <Button
                size="compact-sm"
                variant="subtle"
                aria-label={t("Remove {filename}", { filename })}
                onClick={() => onChange({ attachments: kept(id) })}
              >
                {t("Remove")}
              </Button>
            </li>
          ))}
        </ul>
      )}
      <div className="row">
        <FileButton multiple onChange={add}>
          {(props) => (
            <Button {...props} variant="default">
              {t("Attach files")}
            </Button>
          )}
        </FileButton>
        <span className="quiet">
          {t("Everyone gets them. A link to the file is often better.")}
        </span>
      </div>
      {problem && <p className="tone-bad">{problem}</p>}
    </section>
  );
}

/** Without the beginning of the data URL. */
const readBase64 = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ""));
    reader.onerror = () => reject(new ReadableError(t("The file could not be read.")));
    reader.readAsDataURL(file);
  });
