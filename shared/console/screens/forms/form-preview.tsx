import type { FormDesign } from "pennymail";
import { t } from "../../language/translate.ts";
import { contactFields, type DesignDraft, type FieldDraft, toDesignDraft } from "./design-draft.ts";

interface FormPreviewProps {
  /** Heading, if the design has none. */
  name: string;
  design: DesignDraft;
}

/** The form as visitors see it. Nothing in it can be used. */
export function FormPreview({ name, design }: FormPreviewProps) {
  const { title, description, fields, submitLabel, accent } = design;
  return (
    <div className="form-preview" inert>
      <h3>{title || name}</h3>
      {description
        .split(/\n+/)
        .filter(Boolean)
        .map((line, index) => (
          <p key={`${index} ${line}`}>{line}</p>
        ))}
      {fields
        .filter(({ type }) => type !== "hidden")
        .map((field) => (
          <PreviewField key={field.id} field={field} />
        ))}
      <span
        className="form-button"
        {...(accent && { style: { background: accent, color: textColorOn(accent) } })}
      >
        {submitLabel || t("Send")}
      </span>
    </div>
  );
}

/** Black or white, whichever is easier to read, as on the page of the form. */
function textColorOn(background: string): string {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(background.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000" : "#fff";
}

/** A stored version of a form. */
export function StoredPreview({ name, design }: { name: string; design: FormDesign | null }) {
  return <FormPreview name={name} design={toDesignDraft({ designJson: design })} />;
}

function PreviewField({ field }: { field: FieldDraft }) {
  const { name, label, type, required, placeholder, options } = field;
  const text = (
    <>
      {label || contactFields[name] || name} {required && <small>{t("(required)")}</small>}
    </>
  );
  if (type === "checkbox")
    return (
      <p>
        <input type="checkbox" readOnly /> {text}
      </p>
    );
  return (
    <p>
      <span>{text}</span>
      <span className={type === "textarea" ? "form-input tall" : "form-input"}>
        {placeholder || (type === "select" && options.split("\n")[0])}
      </span>
    </p>
  );
}
