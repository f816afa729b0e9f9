import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Brand } from "../../../email/brand/brand.ts";
import { insertBrandLook, toBrandLook } from "../../../email/brand/look.ts";
import { unsubscribePageWording } from "../../../email/wording/by-topic.ts";
import { html } from "../../../kernel/html.ts";
import { renderPage } from "../../../pages/page-layout.ts";
import { t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { EmailPreview } from "../../parts/email-preview.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Tabs } from "../../parts/tabs.tsx";

interface BrandPreviewProps {
  siteName: string;
  brand: Brand;
}

/** An email and a page as they look with the brand that is being edited. */
export function BrandPreview({ siteName, brand }: BrandPreviewProps) {
  const { data: email, error } = useQuery({
    queryKey: ["brand-sample"],
    queryFn: async () => (await import("./brand-sample.ts")).compileSample(),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Card title={t("Preview")}>
      <ErrorNote error={error} />
      <Tabs
        label={t("Previews")}
        tabs={{
          [t("Email")]: email ? (
            <EmailPreview
              title={t("Email with the brand")}
              html={insertBrandLook(email, toBrandLook(brand))}
            />
          ) : (
            <Skeleton h={400} />
          ),
          [t("Page")]: (
            <EmailPreview title={t("Page with the brand")} html={renderSample(siteName, brand)} />
          ),
        }}
      />
    </Card>
  );
}

function renderSample(siteName: string, brand: Brand): string {
  const lang = brand.language ?? "en";
  const { preferencesTitle, preferences, save, leaveSite, leaveSiteHint } =
    unsubscribePageWording[lang];
  return renderPage({
    lang,
    brand,
    title: preferencesTitle,
    body: html`<p>${preferences("ada@example.com", siteName)}</p>
<form><button type="button">${save}</button></form><hr>
<form><p class="faint">${leaveSiteHint(siteName)}</p>
<button type="button" class="quiet">${leaveSite}</button></form>`,
  });
}
