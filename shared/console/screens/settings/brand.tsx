import { Button, NumberInput, Select, Skeleton, Textarea, TextInput } from "@mantine/core";
import type { Site } from "pennymail";
import { type ReactNode, useState } from "react";
import {
  type Brand,
  brandLimits,
  defaultBrand,
  defaultLogoWidth,
} from "../../../email/brand/brand.ts";
import { languages } from "../../../email/languages.ts";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { useRight, useSite } from "../../data/session.ts";
import { ColorInputs, CornersChoice, FontSelect } from "../../editors/visual/look-fields.tsx";
import { ImageInput } from "../../editors/visual/settings-fields.tsx";
import { t } from "../../language/translate.ts";
import { FormCard } from "../../parts/form.tsx";
import { languageName } from "../../parts/language-name.ts";
import { useUnsavedDraft } from "../../parts/unsaved-changes.ts";
import { BrandPreview } from "./brand-preview.tsx";

/** What the emails, pages and forms of the site look like. */
export function BrandSettings() {
  const { site, isLoaded } = useSite();
  if (!isLoaded) return <Skeleton h={400} />;
  if (!site) return <p className="quiet">{t("Add a site first.")}</p>;
  return <BrandForm key={site.id} site={site} />;
}

function BrandForm({ site }: { site: Site }) {
  const mayWrite = useRight("organization:write");
  const [brand, setBrand] = useState<Brand>(site.brand ?? defaultBrand);
  const change = (changes: Partial<Brand>) => setBrand({ ...brand, ...changes });
  const socialLinks = brand.socialLinks.filter(({ name, url }) => name.trim() && url.trim());
  const saving = useChange({
    run: () => {
      const footerText = brand.footerText?.trim() || null;
      return api.sites.update(site.id, { brand: { ...brand, socialLinks, footerText } });
    },
    refreshes: ["sites"],
  });
  const removing = useChange({
    run: () => api.sites.update(site.id, { brand: null }),
    refreshes: ["sites"],
    onDone: () => setBrand(defaultBrand),
  });
  useUnsavedDraft(brand, saving);
  return (
    <div className="columns even">
      <FormCard
        title={t("Brand of {name}", { name: site.name })}
        state={saving.isSuccess ? t("Saved") : ""}
        action={t("Save")}
        submission={saving}
        isDisabled={!mayWrite}
      >
        <p className="quiet">
          {t(
            "Designs that use the brand, pages and forms follow it at once. Email " +
              "that is accepted keeps the brand it had.",
          )}
        </p>
        <LogoFields brand={brand} change={change} />
        <ColorFields brand={brand} change={change} />
        <FontSelect value={brand.font} onChange={(font) => change({ font })} />
        <CornersChoice value={brand.corners} onChange={(corners) => change({ corners })} />
        <SocialFields brand={brand} change={change} />
        <Textarea
          label={t("Footer text (optional)")}
          description={t(
            "At the end of emails and pages, such as the legal notice of the company.",
          )}
          autosize
          minRows={2}
          maxLength={brandLimits.footerText}
          value={brand.footerText ?? ""}
          onChange={({ currentTarget }) => change({ footerText: currentTarget.value || null })}
        />
        <Select
          className="narrow"
          label={t("Language (optional)")}
          description={t("Of new designs, and of pages when that of the reader is not known.")}
          clearable
          clearButtonProps={{ "aria-label": t("No language") }}
          data={languages.map((value) => ({ value, label: languageName(value) }))}
          value={brand.language}
          onChange={(language) => change({ language: language as Brand["language"] })}
        />
        {site.brand && mayWrite && (
          <Button
            className="start"
            variant="default"
            size="xs"
            loading={removing.isPending}
            onClick={() => removing.mutate()}
          >
            {t("Remove the brand")}
          </Button>
        )}
      </FormCard>
      <BrandPreview siteName={site.companyName ?? site.name} brand={{ ...brand, socialLinks }} />
    </div>
  );
}

interface BrandFieldsProps {
  brand: Brand;
  change(changes: Partial<Brand>): void;
}

function LogoFields({ brand: { logo }, change }: BrandFieldsProps): ReactNode {
  const set = (changes: Partial<NonNullable<Brand["logo"]>>) => {
    const next = { url: "", alt: "", link: null, width: defaultLogoWidth, ...logo, ...changes };
    change({ logo: next.url ? next : null });
  };
  return (
    <>
      <ImageInput
        label={t("Address of the logo (optional)")}
        value={logo?.url ?? ""}
        shownWidth={logo?.width ?? defaultLogoWidth}
        onChange={(url, alt) =>
          set({ url, ...(alt !== undefined && { alt: alt.slice(0, brandLimits.alt) }) })
        }
      />
      {logo && (
        <>
          <TextInput
            label={t("Name on the logo")}
            maxLength={brandLimits.alt}
            value={logo.alt}
            onChange={({ currentTarget }) => set({ alt: currentTarget.value })}
          />
          <TextInput
            label={t("The logo leads to (optional)")}
            type="url"
            placeholder="https://shop.example"
            maxLength={brandLimits.url}
            value={logo.link ?? ""}
            onChange={({ currentTarget }) => set({ link: currentTarget.value || null })}
          />
          <NumberInput
            className="narrow"
            label={t("Width of the logo in pixels")}
            min={brandLimits.minLogo}
            max={brandLimits.maxLogo}
            allowDecimal={false}
            value={logo.width}
            onChange={(width) => typeof width === "number" && set({ width })}
          />
        </>
      )}
    </>
  );
}

const colorNames = {
  accent: t("Accent: buttons and links"),
  text: t("Text"),
  surface: t("Email or page"),
  background: t("Around it"),
};

function ColorFields({ brand: { colors }, change }: BrandFieldsProps): ReactNode {
  return (
    <ColorInputs
      colors={colors}
      names={colorNames}
      onChange={(changes) => change({ colors: { ...colors, ...changes } })}
    />
  );
}

function SocialFields({ brand: { socialLinks }, change }: BrandFieldsProps): ReactNode {
  const set = (index: number, changes: Partial<Brand["socialLinks"][number]>) =>
    change({
      socialLinks: socialLinks.map((link, i) => (i === index ? { ...link, ...changes } : link)),
    });
  return (
    <fieldset className="plain-fieldset stack">
      <legend>{t("Social links")}</legend>
      {socialLinks.map((link, i) => (
        <div key={i} className="brand-link">
          <TextInput
            label={t("Name of link {number}", { number: i + 1 })}
            placeholder={t("Instagram")}
            maxLength={brandLimits.linkName}
            value={link.name}
            onChange={({ currentTarget }) => set(i, { name: currentTarget.value })}
          />
          <TextInput
            label={t("Link {number} leads to", { number: i + 1 })}
            type="url"
            placeholder="https://"
            maxLength={brandLimits.linkUrl}
            value={link.url}
            onChange={({ currentTarget }) => set(i, { url: currentTarget.value })}
          />
          <Button
            variant="default"
            size="xs"
            onClick={() => change({ socialLinks: socialLinks.filter((_, other) => other !== i) })}
          >
            {t("Remove link {number}", { number: i + 1 })}
          </Button>
        </div>
      ))}
      {socialLinks.length < brandLimits.links && (
        <Button
          className="start"
          variant="default"
          size="xs"
          onClick={() => change({ socialLinks: [...socialLinks, { name: "", url: "" }] })}
        >
          {t("Add a link")}
        </Button>
      )}
    </fieldset>
  );
}
