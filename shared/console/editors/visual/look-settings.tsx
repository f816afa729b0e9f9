import { Select, Switch, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type Language, languages } from "../../../email/languages.ts";
import { t } from "../../language/translate.ts";
import { languageName } from "../../parts/language-name.ts";
import { Choice } from "./choice.tsx";
import { copyBrand, type Design, limits, type Theme } from "./design.ts";
import { ColorInputs, CornersChoice, FontSelect } from "./look-fields.tsx";
import { ImageInput, LinkInput } from "./settings-fields.tsx";
import { useBrand } from "./use-brand.ts";

interface LookSettingsProps {
  design: Design;
  siteId: number;
  isReadOnly: boolean;
  isSnippet: boolean;
  onChange(design: Design, name: string): void;
}

const colorNames = {
  accent: t("Accent: buttons and links"),
  text: t("Text"),
  surface: t("Email"),
  background: t("Around the email"),
};

/** Colours, font, width and logo of the whole email. */
export function LookSettings(props: LookSettingsProps) {
  const { design, siteId, isReadOnly, isSnippet, onChange } = props;
  const { theme } = design;
  const { brand } = useBrand(siteId);
  const change = (changes: Partial<Theme>) =>
    onChange({ ...design, theme: { ...theme, ...changes } }, `theme ${Object.keys(changes)}`);
  return (
    <fieldset className="plain-fieldset stack" disabled={isReadOnly}>
      <Select
        label={t("Language of the email")}
        description={t(
          "Screen readers read it so, and the footer with the unsubscribe link is in it.",
        )}
        allowDeselect={false}
        data={languages.map((value) => ({ value, label: languageName(value) }))}
        value={design.language ?? "en"}
        onChange={(language) => onChange({ ...design, language: language as Language }, "language")}
      />
      <Switch
        label={t("Use the brand of the site")}
        description={t(
          "Colours, font, corners, logo and footer text, also when the brand changes.",
        )}
        checked={theme.usesBrand === true}
        onChange={({ currentTarget }) =>
          onChange(
            currentTarget.checked
              ? { ...design, theme: { ...theme, usesBrand: true } }
              : copyBrand(design, brand),
            "brand",
          )
        }
      />
      <Choice
        label={t("Width")}
        value={String(theme.width)}
        choices={[
          ["520", t("Narrow")],
          ["600", t("Normal")],
          ["680", t("Wide")],
        ]}
        onChange={(width) => change({ width: Number(width) as Theme["width"] })}
      />
      {theme.usesBrand ? (
        <p className="quiet">
          <Link to="/settings/{-$section}" params={{ section: "brand" }}>
            {t("Change the brand")}
          </Link>
        </p>
      ) : (
        <OwnLook theme={theme} hasLogo={!isSnippet} change={change} />
      )}
    </fieldset>
  );
}

interface OwnLookProps {
  theme: Theme;
  hasLogo: boolean;
  change(changes: Partial<Theme>): void;
}

/** What the brand sets in a design that uses it. */
function OwnLook({ theme, hasLogo, change }: OwnLookProps) {
  const changeLogo = (changes: Partial<Theme["logo"]>) =>
    change({ logo: { ...theme.logo, ...changes } });
  return (
    <>
      <ColorInputs colors={theme} names={colorNames} onChange={change} />
      <p className="quiet">
        {t(
          "Links are made darker or lighter where they could not be read. Dark " +
            "mode has colours of its own.",
        )}
      </p>
      <FontSelect value={theme.font} onChange={(font) => change({ font })} />
      <CornersChoice value={theme.corners} onChange={(corners) => change({ corners })} />
      {hasLogo && (
        <ImageInput
          label={t("Address of the logo (optional)")}
          value={theme.logo.src}
          onChange={(src, alt) => changeLogo({ src, ...(alt !== undefined && { alt }) })}
        />
      )}
      {hasLogo && theme.logo.src && (
        <>
          <TextInput
            label={t("Name on the logo")}
            maxLength={limits.alt}
            value={theme.logo.alt}
            onChange={({ currentTarget }) => changeLogo({ alt: currentTarget.value })}
          />
          <LinkInput
            label={t("The logo leads to (optional)")}
            value={theme.logo.href}
            onChange={(href) => changeLogo({ href })}
          />
          <Choice
            label={t("Size of the logo")}
            value={String(theme.logo.width)}
            choices={[
              ["100", t("Small")],
              ["140", t("Medium")],
              ["220", t("Large")],
            ]}
            onChange={(width) => changeLogo({ width: Number(width) })}
          />
        </>
      )}
    </>
  );
}
