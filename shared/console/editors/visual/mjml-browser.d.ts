declare module "mjml-browser" {
  /** MJML as one script for browsers. It needs no file and makes no request. */
  export default function mjml2html(
    source: string,
    options: { fonts: Record<string, string>; validationLevel: "skip" | "soft" },
  ): { html: string; errors: { formattedMessage: string }[] };
}
