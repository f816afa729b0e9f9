import { type ErrorDetail, PennymailError } from "pennymail";
import { type RefObject, useId, useLayoutEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { t } from "../language/translate.ts";
import { CopyAction } from "./copy-action.tsx";
import { errorText, fieldName, fieldText, namesFields } from "./error-texts.ts";
import { ReadableError } from "./readable-error.ts";

/** An error of the console itself. */
const adviceFor = (error: unknown): string =>
  t(
    "The console could not finish this. Reload the page and try again. If " +
      "it fails again, report what you did and this text: {error}",
    { error: error instanceof Error ? error.message : String(error) },
  );

/**
 * What went wrong, and what to do. A message about a field stands at the input of the same form
 * whose `data-field` is the path of the field. The id of the request is for support, so it is shown
 * for faults of the service only.
 */
export function ErrorNote({ error }: { error: unknown }) {
  return error ? <Note error={error} /> : null;
}

const noDetails: ErrorDetail[] = [];

function Note({ error }: { error: unknown }) {
  const known = error instanceof PennymailError ? error : undefined;
  const note = useRef<HTMLDivElement>(null);
  const details = known && namesFields(known) ? known.details : noDetails;
  const placed = useFieldMessages(note, details);
  const others = details.filter((detail) => !placed.has(detail));
  return (
    <div className="error-note" role="alert" ref={note}>
      <ErrorSummary error={error} others={others} isPlaced={placed.size > 0} />
      {known?.ssoUrl && (
        <p>
          <a href={known.ssoUrl}>{t("Sign in with single sign-on")}</a>
        </p>
      )}
      {known?.requestId && known.status >= 500 && (
        <p className="request-id">
          {t("Request {id}", { id: known.requestId })}
          <CopyAction value={known.requestId} label={t("Copy the id of the request")} />
        </p>
      )}
      {[...placed].map(([detail, { wrapper, id }]) =>
        createPortal(
          <p className="field-error" id={id}>
            {fieldText(detail)}
          </p>,
          wrapper,
          detail.path,
        ),
      )}
    </div>
  );
}

interface ErrorSummaryProps {
  error: unknown;
  /** Fields without an input in the form. */
  others: ErrorDetail[];
  /** Whether messages stand at inputs. */
  isPlaced: boolean;
}

function ErrorSummary({ error, others, isPlaced }: ErrorSummaryProps) {
  if (!(error instanceof PennymailError))
    return <p>{error instanceof ReadableError ? error.message : adviceFor(error)}</p>;
  if (others.length === 0)
    return <p>{isPlaced ? t("Correct the marked fields.") : errorText(error)}</p>;
  return others.map((detail) => {
    const name = fieldName(detail.path);
    return (
      <p key={detail.path}>
        {name && <b>{name}: </b>}
        {fieldText(detail)}
      </p>
    );
  });
}

interface Place {
  wrapper: Element;
  /** The id of the message, to which the input refers. */
  id: string;
}

/** Marks the inputs of the form that are wrong, and puts the focus on the first one. */
function useFieldMessages(note: RefObject<HTMLDivElement | null>, details: ErrorDetail[]) {
  const [placed, setPlaced] = useState<ReadonlyMap<ErrorDetail, Place>>(new Map());
  const prefix = useId();
  useLayoutEffect(() => {
    const form = note.current?.closest("form, [role=dialog]");
    const inputs = details.flatMap((detail, index) => {
      const input = form && inputOf(form, detail.path);
      const wrapper = input?.closest(".mantine-InputWrapper-root");
      return input && wrapper
        ? [{ detail, input, place: { wrapper, id: `${prefix}${index}` } }]
        : [];
    });
    setPlaced(new Map(inputs.map(({ detail, place }) => [detail, place])));
    for (const { input, place } of inputs) {
      input.setAttribute("aria-invalid", "true");
      input.setAttribute("aria-errormessage", place.id);
    }
    inputs[0]?.input.focus();
    return () => {
      for (const { input } of inputs) {
        input.removeAttribute("aria-invalid");
        input.removeAttribute("aria-errormessage");
      }
    };
  }, [note, details, prefix]);
  return placed;
}

/** The input of a field, or of the field that contains it. */
function inputOf(form: Element, path: string): HTMLElement | undefined {
  const inputs = [...form.querySelectorAll<HTMLElement>("[data-field]")];
  const isPartOf = (field = "") => path === field || path.startsWith(`${field}.`);
  return inputs.find(({ dataset }) => dataset.field && isPartOf(dataset.field));
}
