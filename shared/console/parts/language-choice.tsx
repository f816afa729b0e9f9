// Other languages of the console, to choose from.

import { ActionIcon, Anchor, Menu } from "@mantine/core";
import { IconLanguage } from "@tabler/icons-react";
import { type ConsoleLanguage, languageKey, languageNames } from "../language/chosen-language.ts";
import { language, t } from "../language/translate.ts";

const languages = Object.keys(languageNames) as ConsoleLanguage[];

/** Loads the console again in this language. */
function chooseLanguage(chosen: ConsoleLanguage): void {
  localStorage.setItem(languageKey, chosen);
  location.reload();
}

interface LanguageMenuProps {
  /** Calls `choose` unless the user wants to stay on the page. */
  leave(choose: () => void): void;
}

export function LanguageMenu({ leave }: LanguageMenuProps) {
  return (
    <Menu width={140} position="top-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={t("Language")}>
          <IconLanguage size={17} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {languages.map((one) => (
          <Menu.Item
            key={one}
            lang={one}
            disabled={one === language}
            onClick={() => leave(() => chooseLanguage(one))}
          >
            {languageNames[one]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** The other languages, in a menu of more than languages. */
export const LanguageItems = ({ leave }: LanguageMenuProps) =>
  languages
    .filter((one) => one !== language)
    .map((one) => (
      <Menu.Item
        key={one}
        lang={one}
        leftSection={<IconLanguage size={17} stroke={1.6} aria-hidden />}
        onClick={() => leave(() => chooseLanguage(one))}
      >
        {languageNames[one]}
      </Menu.Item>
    ));

/** Before the sign-in, where nothing can be lost. */
export const LanguageLinks = () => (
  <p className="quiet">
    {languages
      .filter((one) => one !== language)
      .map((one) => (
        <Anchor
          key={one}
          component="button"
          type="button"
          lang={one}
          onClick={() => chooseLanguage(one)}
        >
          {languageNames[one]}
        </Anchor>
      ))}
  </p>
);
