import { Select, TextInput } from "@mantine/core";
import { Choice } from "./block-settings.tsx";
import { contrast, readableContrast } from "./colors.ts";
import { type Design, type FontName, fonts, limits, type Theme } from "./design.ts";
import { ImageInput, LinkInput } from "./settings-fields.tsx";

interface LookSettingsProps {
  design: Design;
  isReadOnly: boolean;
  onChange(design: Design, name: string): void;
}

const colorNames = {
  accent: "Accent: buttons and links",
  text: "Text",
  surface: "Email",
  background: "Around the email",
};

/** Colours, font, width and logo of the whole email. */
export function LookSettings({ design, isReadOnly, onChange }: LookSettingsProps) {
  const { theme, previewText } = design;
  const change = (changes: Partial<Theme>) =>
    onChange({ ...design, theme: { ...theme, ...changes } }, `theme ${Object.keys(changes)}`);
  const changeLogo = (changes: Partial<Theme["logo"]>) =>
    change({ logo: { ...theme.logo, ...changes } });
  const isHardToRead = contrast(theme.text, theme.surface) < readableContrast;
  return (
    <fieldset className="plain-fieldset stack" disabled={isReadOnly}>
      <TextInput
        label="Preview text"
        description="Inboxes show it after the subject."
        maxLength={limits.previewText}
        value={previewText}
        onChange={({ currentTarget: { value } }) =>
          onChange({ ...design, previewText: value }, "previewText")
        }
      />
      <div className="colors">
        {(Object.keys(colorNames) as (keyof typeof colorNames)[]).map((name) => (
          <label key={name}>
            <input
              type="color"
              value={theme[name]}
              onChange={({ currentTarget }) => change({ [name]: currentTarget.value })}
            />
            {colorNames[name]}
          </label>
        ))}
      </div>
      {isHardToRead && (
        <p className="tone-warn">
          The text is hard to read on the email. Choose a darker or a lighter colour.
        </p>
      )}
      <p className="quiet">
        Links are made darker or lighter where they could not be read. Dark mode has colours of its
        own.
      </p>
      <Select
        label="Font"
        description="Fonts that every mail program has."
        allowDeselect={false}
        data={(Object.keys(fonts) as FontName[]).map((value) => ({
          value,
          label: fonts[value].label,
        }))}
        value={theme.font}
        onChange={(font) => change({ font: font as FontName })}
      />
      <Choice
        label="Width"
        value={String(theme.width)}
        choices={[
          ["520", "Narrow"],
          ["600", "Normal"],
          ["680", "Wide"],
        ]}
        onChange={(width) => change({ width: Number(width) as Theme["width"] })}
      />
      <Choice<Theme["corners"]>
        label="Corners"
        value={theme.corners}
        choices={[
          ["square", "Square"],
          ["soft", "Soft"],
          ["round", "Round"],
        ]}
        onChange={(corners) => change({ corners })}
      />
      <ImageInput
        label="Address of the logo (optional)"
        value={theme.logo.src}
        onChange={(src, alt) => changeLogo({ src, ...(alt !== undefined && { alt }) })}
      />
      {theme.logo.src && (
        <>
          <TextInput
            label="Name on the logo"
            maxLength={limits.alt}
            value={theme.logo.alt}
            onChange={({ currentTarget }) => changeLogo({ alt: currentTarget.value })}
          />
          <LinkInput
            label="The logo leads to (optional)"
            value={theme.logo.href}
            onChange={(href) => changeLogo({ href })}
          />
          <Choice
            label="Size of the logo"
            value={String(theme.logo.width)}
            choices={[
              ["100", "Small"],
              ["140", "Medium"],
              ["220", "Large"],
            ]}
            onChange={(width) => changeLogo({ width: Number(width) })}
          />
        </>
      )}
    </fieldset>
  );
}
