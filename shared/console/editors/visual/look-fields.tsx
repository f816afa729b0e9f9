// Fields of the look of emails: that of one design, and the brand of a site.
import { Select } from "@mantine/core";
import type { ReactNode } from "react";
import { type Corners, type FontName, fonts } from "../../../email/brand/brand.ts";
import { contrast, type Palette, readableContrast } from "../../../email/brand/colors.ts";
import { t } from "../../language/translate.ts";
import { Choice } from "./choice.tsx";

interface FieldProps<Value> {
  value: Value;
  onChange(value: Value): void;
}

export const FontSelect = ({ value, onChange }: FieldProps<FontName>): ReactNode => (
  <Select
    className="narrow"
    label={t("Font")}
    description={t("Fonts that every mail program has.")}
    allowDeselect={false}
    data={(Object.keys(fonts) as FontName[]).map((name) => ({
      value: name,
      label: fonts[name].label,
    }))}
    value={value}
    onChange={(font) => onChange(font as FontName)}
  />
);

export const CornersChoice = (props: FieldProps<Corners>): ReactNode => (
  <Choice
    label={t("Corners")}
    choices={[
      ["square", t("Square")],
      ["soft", t("Soft")],
      ["round", t("Round")],
    ]}
    {...props}
  />
);

interface ColorInputsProps {
  colors: Palette;
  /** What each colour is for. The inputs have this order. */
  names: Record<keyof Palette, string>;
  onChange(changes: Partial<Palette>): void;
}

/** Warns when the text is hard to read. */
export const ColorInputs = ({ colors, names, onChange }: ColorInputsProps): ReactNode => (
  <>
    <div className="colors">
      {(Object.keys(names) as (keyof Palette)[]).map((name) => (
        <label key={name}>
          <input
            type="color"
            value={colors[name]}
            onChange={({ currentTarget }) => onChange({ [name]: currentTarget.value })}
          />
          {names[name]}
        </label>
      ))}
    </div>
    {contrast(colors.text, colors.surface) < readableContrast && (
      <p className="tone-warn">
        {t("The text is hard to read on the email. Choose a darker or a lighter colour.")}
      </p>
    )}
  </>
);
