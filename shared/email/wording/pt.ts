// The texts of the service in Portuguese.
import type * as en from "./en.ts";

/** The texts at the end of mails. */
export const emailFooter: typeof en.emailFooter = {
  unsubscribe: "Cancelar inscrição",
  preferences: "Preferências de e-mail",
  sentWith: "Enviado com Pennymail",
};

/** The mail that asks to confirm an address. */
export const confirmationEmail: typeof en.confirmationEmail = {
  confirm: "Sim, confirmar",
  subject: (site) => `Confirme o seu endereço de e-mail para ${site}`,
  greeting: "Olá,",
  intro: (site) =>
    `Este endereço de e-mail foi informado em ${site}. Se foi você, confirme-o, por favor:`,
  ignoreNote:
    "Se não foi você, ignore este e-mail. Sem a sua confirmação, nenhuma inscrição será feita.",
};

/** The page of a link that does not work. */
export const invalidLink: typeof en.invalidLink = {
  invalidTitle: "Este link não funciona",
  invalid: "Ele pode estar incompleto ou ser antigo demais. Abra-o de novo no e-mail original.",
};

/** The pages behind the unsubscribe link. */
export const unsubscribePage: typeof en.unsubscribePage = {
  askTitle: "Cancelar a inscrição?",
  unsubscribeQuestion: (email, site) => `${email} não receberá mais novidades de ${site}.`,
  unsubscribedTitle: "Inscrição cancelada",
  unsubscribed: (email, site) =>
    `${email} não receberá mais novidades de ${site}. Os e-mails já enviados ainda podem chegar.`,
  outAll: (email) => `${email} não receberá mais novidades de nenhum site deste remetente.`,
  all: "Cancelar a inscrição em todos os e-mails deste remetente",
  allWhy: "Recebe também e-mails de outros sites deste remetente?",
  resubscribe: "Inscrever-se de novo",
  resubscribeHint: "Foi um engano?",
  resubscribedTitle: "Que bom ter você de volta",
  resubscribed: (email, site) => `${email} voltará a receber novidades de ${site}.`,
  preferencesTitle: "As suas preferências de e-mail",
  preferences: (email, site) => `Escolha quais e-mails ${site} pode enviar para ${email}.`,
  leaveTopic: (topic) => `Cancelar a inscrição em ${topic}`,
  leaveTopicQuestion: (email, topic, site) =>
    `${email} não receberá mais e-mails sobre ${topic} de ${site}.`,
  leftTopicTitle: (topic) => `Inscrição em ${topic} cancelada`,
  topics: "E-mails que pode escolher",
  save: "Salvar as escolhas",
  savedTitle: "As suas escolhas foram salvas",
  leaveSite: "Cancelar todas as inscrições",
  leaveSiteHint: (site) => `Não quer receber mais nenhum e-mail de ${site}?`,
  suppressedTitle: "Este endereço não recebe e-mails",
  suppressed: (email, site) =>
    `${site} não envia mais e-mails para ${email}, portanto não há inscrição a cancelar.`,
  details: "Os seus dados",
  saveDetails: "Guardar os dados",
  detailsSavedTitle: "Os seus dados foram guardados",
  yes: "Sim",
  no: "Não",
  snoozeTitle: "Fazer uma pausa",
  snoozeHint: (site) =>
    `A subscrição mantém-se e, durante esse tempo, não recebe novidades de ${site}.`,
  snoozeFor: "Pausar os e-mails durante",
  days: (count) => `${count} dias`,
  snooze: "Pausar os e-mails",
  snoozedTitle: "Os seus e-mails estão em pausa",
  snoozed: (email, site, date) => `${email} não receberá novidades de ${site} até ${date}.`,
  endSnooze: "Voltar a receber e-mails",
  reasonTitle: "Porque cancelou a subscrição?",
  reasons: {
    too_many: "Demasiados e-mails",
    not_relevant: "Os e-mails não são relevantes para mim",
    not_interested: "Já não tenho interesse",
    never_subscribed: "Nunca subscrevi",
    other: "Outro motivo",
  },
  comment: "Os seus comentários (opcional)",
  sendReason: "Enviar resposta",
  thanksForReason: "Obrigado pela sua resposta.",
};

/** Forms, and the pages that confirm a subscription. */
export const formPage: typeof en.formPage = {
  confirmTitle: "Só mais um clique",
  confirmAsk: (email, site) =>
    `Confirme que deseja receber novidades de ${site} no endereço ${email}.`,
  confirmIgnore: "Se não foi você, feche esta página. Nada será enviado.",
  expiredTitle: "Este link expirou",
  expired: (email, site) =>
    `Tem mais de 30 dias, por isso ${email} ainda não está confirmado para ` +
    `${site}. Podemos enviar um novo.`,
  sendAgain: "Enviar um novo e-mail",
  confirmedTitle: "Obrigado pela confirmação",
  confirmed: (email, site) => `${site} já pode enviar e-mails para ${email}.`,
  thanksTitle: "Obrigado",
  thanks: "Recebemos os seus dados.",
  pendingTitle: "Verifique a sua caixa de entrada",
  pending: "Enviamos um e-mail com um link. Abra o link para confirmar o seu endereço.",
  inactiveTitle: "Este formulário está fechado",
  inactive: "No momento, ele não aceita respostas.",
  failed: "Ocorreu um erro. Tente novamente.",
  busy: "Há envios demais neste momento. Tente novamente em um minuto.",
  captchaFailed: "Confirme que é humano e envie novamente.",
  captchaUnavailable:
    "A verificação contra spam não está disponível neste momento. " +
    "Tente novamente dentro de alguns minutos.",
  email: "E-mail",
  submit: "Enviar",
  required: "obrigatório",
  honeypot: "Deixe este campo vazio",
  errorSummaryTitle: "Verifique os dados informados",
  fieldError: (label, fault) => `${label}: ${fault}`,
};

/** Fields that a visitor or a contact fills in. */
export const fieldInput: typeof en.fieldInput = {
  choose: "Escolha uma opção",
  firstName: "Nome",
  lastName: "Sobrenome",
  phone: "Telefone",
  company: "Empresa",
  fieldErrors: {
    required: "preencha este campo",
    tick: "marque esta caixa",
    email: "não é um endereço de e-mail",
    number: "não é um número",
    date: "não é uma data",
    url: "não é um endereço da web como https://example.com",
    choice: "escolha uma das opções",
    long: "é longo demais",
  },
};

/** The page that shows an email in the browser, when there is no email to show. */
export const browserView: typeof en.browserView = {
  goneTitle: "Este e-mail não está mais armazenado",
  gone:
    "Guardamos os e-mails por 60 dias, para que possa lê-los no navegador. Ainda pode ler este " +
    "na sua caixa de entrada.",
  previewTitle: "Este link funciona nos e-mails enviados",
  preview: "Ele foi aberto em uma prévia ou em um teste. Quem recebe o e-mail pode vê-lo aqui.",
};

/** Secure messages: the notice mail, and the page that shows the message. */
export const secureMessage: typeof en.secureMessage = {
  noticeFrom: (sender) =>
    `${sender} enviou uma mensagem protegida para você. Ela não está neste e-mail. Pode lê-la ` +
    "em uma página separada:",
  noticeOpen: "Abrir a mensagem",
  noticePassphrase: "Vai precisar da senha que o remetente informou.",
  expiryNote: (date) => `A mensagem pode ser aberta até ${date}.`,
  title: "Uma mensagem protegida para você",
  from: (sender) => `${sender} enviou uma mensagem que pode ser lida somente nesta página.`,
  show: "Mostrar a mensagem",
  passphrase: "Senha",
  passphraseHint: "O remetente a informou a você.",
  wrong: "A senha está incorreta. Tente novamente.",
  tooMany: "Muitas tentativas sem sucesso. Tente novamente em uma hora.",
  goneTitle: "Esta mensagem não está mais disponível",
  gone: "Ela expirou ou foi retirada. Se ainda precisar dela, entre em contato com o remetente.",
  invalidTitle: "Este link não funciona",
  invalid: "Ele pode estar incompleto. Abra-o de novo no e-mail original.",
  frameTitle: "A mensagem",
  sentBy: (sender) => `De ${sender}.`,
  files: "Arquivos",
  filesHint: "Os links funcionam durante uma hora. Depois, abra a mensagem de novo.",
};

/** Error pages. */
export const errorPage: typeof en.errorPage = {
  busyTitle: "Indisponível no momento",
  busy: "Aguarde um momento, depois volte e tente novamente.",
  largeTitle: "O texto é longo demais",
  large: "Volte e encurte-o.",
  wrongTitle: "Não funcionou",
  wrong: "Não foi possível processar o pedido. Volte e tente novamente.",
  goneTitle: "Página não encontrada",
  gone: "O link pode estar incompleto ou ser antigo demais. Abra de novo o link completo.",
  oursTitle: "Ocorreu um erro",
  ours: "O problema é nosso. Tente novamente dentro de alguns minutos.",
  reference: "Referência",
};

/** The pages that verify an email address. */
export const emailVerification: typeof en.emailVerification = {
  title: "Confirme o seu endereço de e-mail",
  question: (email) => `Você se cadastrou com ${email}? Então confirme o endereço.`,
  verify: "Confirmar",
  doneTitle: "O seu endereço de e-mail está confirmado",
  done: "Agora pode enviar e-mails.",
  invalidTitle: "Este link não funciona mais",
  invalid:
    "Ele já foi usado, tem mais de 24 horas ou está incompleto. Se ainda não consegue enviar, " +
    "entre na sua conta e peça um novo link.",
};

/** The password reset pages. */
export const passwordReset: typeof en.passwordReset = {
  resetTitle: "Definir uma nova senha",
  newPassword: "Nova senha",
  passwordRule:
    "No mínimo 10 caracteres. Todas as sessões serão encerradas e terá de entrar novamente.",
  apiKeys: (count) => `As chaves de API que você criou continuam válidas (${count}):`,
  revokeApiKeys: "Revogar todas. Escolha esta opção se outra pessoa puder conhecê-las.",
  save: "Salvar a nova senha",
  tooShort: "A senha deve ter de 10 a 200 caracteres.",
  weak: "Esta senha é fácil de adivinhar. Escolha outra, por exemplo algumas palavras.",
  doneTitle: "A sua nova senha foi definida",
  passwordSet: "Todas as sessões foram encerradas. Entre com a sua nova senha.",
  invalidTitle: "Este link não funciona mais",
  invalid:
    "Ele já foi usado, tem mais de uma hora ou está incompleto. Informe o seu endereço de e-mail " +
    "para receber um novo link.",
  askTitle: "Esqueceu a senha?",
  ask: "Informe o seu endereço de e-mail e enviaremos um link para definir uma nova senha.",
  email: "E-mail",
  send: "Enviar o link",
  invalidEmail: "Informe um endereço de e-mail válido.",
  sentTitle: "Verifique a sua caixa de entrada",
  linkSent:
    "Se existir uma conta com este endereço, um e-mail está a caminho. O link que ele contém " +
    "funciona durante uma hora.",
};

/** The invitation pages. */
export const invitation: typeof en.invitation = {
  title: (organization) => `Entrar em ${organization}`,
  invited: (inviter, email) => `${inviter} convidou ${email}.`,
  hasAccount: "Existe uma conta com este endereço. Informe a senha dela para aceitar o convite.",
  password: "Senha",
  forgot: "Esqueceu a senha?",
  name: "O seu nome (opcional)",
  newPassword: "Escolha uma senha",
  passwordRule: "No mínimo 10 caracteres.",
  join: "Aceitar o convite",
  joinWithSso: "Aceitar com login único",
  wrongPassword: "Esta não é a senha da conta. Tente novamente.",
  tooShort: "A senha deve ter de 10 a 200 caracteres.",
  weak: "Esta senha é fácil de adivinhar. Escolha outra, por exemplo algumas palavras.",
  tooMany: "Muitas tentativas sem sucesso. Aguarde 15 minutos e tente novamente.",
  codeTitle: "Informe o seu código",
  codeFromApp: "Informe o código do seu aplicativo de autenticação ou um código de recuperação.",
  codeFromMail: "Enviamos um código por e-mail. Informe-o, ou informe um código de recuperação.",
  code: "Código",
  wrongCode: "Este código está incorreto ou já foi usado. Tente novamente.",
  doneTitle: (organization) => `Agora você faz parte de ${organization}`,
  done: "A sua sessão está aberta.",
  logInWithSso: "Entrar com login único",
  alreadyTitle: "Você já faz parte",
  already: "Não há mais nada a fazer.",
  invalidTitle: "Este convite não funciona mais",
  invalid:
    "Ele foi aceito ou revogado, tem mais de sete dias ou o link está incompleto. Peça um novo à " +
    "pessoa que convidou você.",
};

/** The pages of single sign-on. */
export const sso: typeof en.sso = {
  startTitle: (organization) => `Entrar em ${organization}`,
  start: "Continuar para o login",
  failedTitle: "O login não funcionou",
  reason: "Motivo",
  again: "Tentar novamente",
};

/** The links at the end of account pages. */
export const wayOn: typeof en.wayOn = {
  logIn: "Entrar",
  openConsole: "Abrir a consola",
};

/** The list of the public archive. */
export const archivePage: typeof en.archivePage = {
  title: (name: string) => `${name}: arquivo da newsletter`,
  older: "E-mails anteriores",
  newest: "E-mails mais recentes",
  feed: "Canal RSS",
  none: "Ainda não foi publicado nenhum e-mail.",
  noSubject: "Sem assunto",
};
