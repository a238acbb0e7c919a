"""German."""

from __future__ import annotations

from .model import Calendar, Language, Numerals, People, Sentences, Words

WORDS = Words(
    "de",
    common="abgerufen abschicken angegeben angeschaut angesehen anheften anpinnen anzahl"
    " anzeigen aufgeführt aufgelistet auflisten aufschreiben beantworten bekannt bekommen"
    " bemüht bereits berücksichtigt bestätigen bestätigst bestätigung bezüglich darf"
    " durchgesehen durchsucht erfasst erklärt erledigen ermittelt erwähnt erzählt eur"
    " eventuell freigabe freigeben gab gbp gefunden geht gelang gelistet geprüft gesammelt"
    " gesamtzahl geschaut gesehen gesucht gezeigt gibt's hab herausgesucht hinterlegt"
    " hypothetisch id konnten lesen mailen markieren merken mwst nachgeschaut nachgesehen"
    " neuen notieren pdf reingeschaut sachen soeben suchen uhr unser unternommen url usd"
    " verglichen vermerkt vermutlich verstanden versucht vielleicht vorlesen warten"
    " wegwerfen wohl worden wurden zahl zeigen zusammengefasst zustimmung übersetzt",
    begin="bitte hallo hey ok also kannst_du können_sie könntest_du könnten_sie "
    "würdest_du ich_möchte ich_will ich_muss lass_uns webbee jetzt mal",
    end="bitte danke für_mich jetzt mal nochmal ok",
    ask="zeig_mir zeige_mir zeig zeige zeigen_sie_mir gib_mir sag_mir liste was_ist "
    "was_sind wie_ist welche welches welcher nenne_mir",
    address="adresse e-mail mail",
    negation="nicht kein keine keinen keinem keiner keines nie niemals nichts niemand ohne weder"
    " keinerlei",
    question="was welche welcher welches wer wen wem wessen wo wann warum wieso wie wieviel"
    " wieviele",
    prohibition="nicht nie niemals ohne stopp kein keine",
    greeting="hallo hi guten morgen tag abend servus moin grüezi",
    thanks="danke dankeschön vielen dank",
    yes="ja jo jawohl gerne klar ok okay bestätige bestätigt einverstanden mach sicher genau",
    yes_filler="bitte es das sie ihn alles lösche löschen sende senden",
    no="nein nee nicht abbrechen stopp halt ablehnen niemals keine keinen keines keiner vergiss"
    " lass egal",
    no_filler="jetzt warte es das bitte mach danke doch von ihnen davon schon gut",
    resume="weiter fortfahren fortsetzen mach",
    undo="rückgängig widerrufe widerrufen",
    reference="dieser diese dieses diesen jener jene derselbe dieselbe dasselbe gleiche"
    " gleichen vorige vorherige es ihn ihm ihr sie dort",
    went="geklappt klappte funktioniert funktionierte raus hinaus rausgegangen durchgegangen"
    " gelungen geschehen passiert",
    recency="ich wir du gerade eben erstellt hinzugefügt geschrieben gesendet gespeichert erhalten",
    function="vor ab ein hinzu weg raus nochmal machen tun daraus"
    " der die das den dem des ein eine einen einem einer eines und oder aber zu zum zur für"
    " von vom in im an am auf aus bei mit nach um ich du er sie es wir ihr mich mir dich dir uns"
    " euch mein meine meinen meinem meiner dein deine ihre ihren ist sind bin war waren sein haben"
    " hat habe hatte wird werden wurde kann können soll sollen muss müssen möchte bitte nicht auch"
    " noch nur schon mal so dass wenn als wie was über unter alle zeig zeige gib",
    quantifier="alle alles jede jeder jedes einige keine beide mehrere viele wenige halb",
    plan="werde wird werden würde könnte kann soll sollte muss wenn falls sobald bis ob"
    " nachdem bevor",
    listing="davon darunter dabei status liste enthält enthalten umfasst sehe siehst sieht"
    " gibt zeigt hier da dort übersicht stehen steht liegen vor keinerlei vorhanden verzeichnet"
    " eingetragen suche ergab ergibt"
    " insgesamt ergeben macht machen kommen kommt zusammen zählt zähle zählen gezählt"
    " beläuft belaufen summiert umfassen vorliegen aufgetaucht auftauchen tauchen"
    " herausgekommen kurz gesagt antwort ergebnis fazit passen passt treffer finden findet"
    " befinden derzeit aktuell momentan moment stand bislang system datenbank existieren"
    " existiert",
    either="genommen nehme nehmen",
    about="etwa ungefähr rund circa ca knapp fast beinahe gut gegen annähernd nahezu zirka",
    more="mehr über übersteigt mindestens übersteigen überschreitet überschreiten übertrifft",
    less="weniger unter höchstens maximal",
    average="durchschnitt durchschnittlich mittelwert im schnitt",
    total="gesamt insgesamt summe zusammen",
    difference="differenz unterschied änderung anstieg rückgang mehr"
    " weniger billiger günstiger teurer fehlen fehlt beziehungsweise",
    and_="und",
    failure="fehl schlug verzichtet fehlgeschlagen fehler gescheitert konnte misslungen"
    " erfolglos problem",
    trouble="problem probleme fehler schwierigkeiten störung",
    matter="anfrage änderung änderungen vorgang aktion auftrag wunsch schritt prozess",
    settled="durch passt",
    label="unter feld spalte rubrik",
    happened="angewendet ausgeführt wirksam angenommen abgeschlossen verarbeitet erledigt erfolg"
    " erfolgreich",
    unfinished="entwurf warteschlange wartet wartend warteliste verweigert abgelehnt"
    " übersprungen unzustellbar gesperrt zurückgestellt",
    cause="weil da wegen grund denn aufgrund",
    empty="leer leere leeres leerer",
    done="passiert geschehen bearbeitet erfüllt erledigt fertig geschafft abgeschlossen erfolgreich"
    " abhaken abgehakt geklappt funktioniert vollbracht gemacht",
    limits="vor nach bis ab seit zwischen außer ausser als ohne statt oder innerhalb abgesehen"
    " bevor nachdem aber sondern während obwohl wobei",
    rest="dazu ausgelassen fehlen weitere weiterer weiteren weiteres andere übrige restliche"
    " mehr plus"
    " weggelassen ausgeblendet zusätzliche",
    possession="dein deine deinem deinen deiner deines ihr ihre ihrem ihren ihrer du hast haben",
    drafting="schreib schreibe verfasse übersetze schlag formuliere nenne dichte entwirf heißt"
    " kürze kürzen umformulieren formulier beitragstext",
    effects={
        "send": "verschicken versenden versendet posten gepostet abgeschickt zugestellt eingestellt"
        " senden gesendet sende schicken geschickt schick verschickt weiterleiten"
        " weitergeleitet antworten geantwortet benachrichtigen benachrichtigt einladen eingeladen",
        "delete": "entfernt löschen gelöscht lösche entfernen entfernt leeren geleert",
        "create": "eröffnen eröffnet erzeugt verfasst eingerichtet aufgenommen hinzu"
        " erstellen erstellt erstelle anlegen angelegt hinzufügen hinzugefügt schreiben"
        " geschrieben eintragen eingetragen",
        "update": "gesetzt setzen festgelegt festlegen angepasst anpassen"
        " aktualisieren aktualisiert ändern geändert bearbeiten bearbeitet umbenennen"
        " umbenannt ersetzen ersetzt korrigiert erhöht gesenkt gestartet gestoppt",
        "move": "verlegen umgebucht umgezogen"
        " verschieben verschoben archivieren archiviert übertragen verlegt",
        "save": "heruntergeladen speichern gespeichert hochladen hochgeladen veröffentlicht teilen"
        " geteilt kopiert exportiert importiert",
        "schedule": "angesetzt eingeplant"
        " planen geplant buchen gebucht reservieren reserviert vereinbart",
        "close": "gelöst lösen beendet beenden behoben aufgehoben gekündigt"
        " stornieren storniert schließen geschlossen abschließen abgeschlossen erledigt"
        " genehmigt angenommen abgelehnt markiert deaktiviert aktiviert abgesagt blockiert",
        "pay": "vorgenommen vornehmen ausgeführt ausführen überweisen eingezahlt einzahlen"
        " abgehoben auszahlen ausgezahlt getätigt erworben platziert platzieren aufgegeben"
        " bezahlen bezahlt erstatten erstattet kaufen gekauft verkauft bestellt abgebucht"
        " unterschrieben überwiesen",
    },
    objects={
        "message": "nachricht nachrichten mail mails e-mail e-mails brief",
        "task": "aufgabe aufgaben erinnerung erinnerungen",
        "note": "notiz notizen",
        "file": "datei dateien dokument dokumente anhang anhänge",
        "folder": "ordner verzeichnis verzeichnisse",
        "event": "termin termine ereignis ereignisse besprechung veranstaltung",
        "person": "kontakt kontakte person personen gast gäste passagier",
        "user": "benutzer nutzer mitglied mitglieder freund freunde",
        "order": "bestellung bestellungen auftrag aufträge order orders",
        "invoice": "rechnung rechnungen",
        "payment": "zahlung zahlungen transaktion transaktionen überweisung überweisungen",
        "booking": "buchung buchungen reservierung reservierungen",
        "fare": "tarif tarife preis preise",
        "flight": "flug flüge reise reisen",
        "hotel": "hotel hotels",
        "restaurant": "restaurant restaurants",
        "car": "auto autos fahrzeug fahrzeuge",
        "card": "karte karten",
        "stock": "aktie aktien",
        "ticket": "ticket tickets vorgang",
        "post": "beitrag beiträge",
        "comment": "kommentar kommentare antwort antworten",
        "review": "bewertung bewertungen",
        "channel": "kanal kanäle",
        "product": "produkt produkte artikel",
        "account": "konto konten",
        "project": "projekt projekte",
        "photo": "foto fotos bild bilder",
        "room": "zimmer raum räume",
        "city": "stadt städte",
        "airport": "flughafen flughäfen",
        "company": "firma firmen unternehmen anbieter agentur agenturen vermietung"
        " vermietungen verleih",
        "result": "ergebnis ergebnisse treffer",
    },
    states={
        "answer:yes": "ja",
        "answer:no": "nein",
        "class:economy": "economy",
        "class:business": "business",
        "class:first": "first erste",
        "life:open": "offen offene geöffnet",
        "life:closed": "abgeschlossen ausgeführt geschlossen gelöst",
        "life:pending": "ausstehend wartend schwebend",
        "life:cancelled": "storniert abgesagt",
        "life:confirmed": "bestätigt bestätigte",
        "life:rejected": "abgelehnt",
        "money:paid": "bezahlt",
        "money:unpaid": "unbezahlt",
        "seen:read": "gelesen",
        "seen:unread": "ungelesen ungelesene",
        "mail:sent": "gesendet verschickt",
        "mail:received": "empfangen erhalten",
        "mail:draft": "entwurf",
        "use:active": "aktiv aktiviert",
        "use:inactive": "inaktiv deaktiviert",
        "have:available": "verfügbar",
        "side:buy": "kauf kaufen",
        "side:sell": "verkauf verkaufen",
        "run:good": "erfolgreich grün",
        "run:bad": "fehlgeschlagen gescheitert",
        "level:normal": "normal",
        "level:low": "niedrig niedrige",
        "level:medium": "mittel mittlere",
        "level:high": "hoch hohe",
        "level:urgent": "dringend dringende",
    },
    ordinals={
        "1": "erste erster erstes ersten neueste",
        "2": "zweite zweiter zweites zweiten",
        "3": "dritte dritter drittes dritten",
        "4": "vierte vierter viertes vierten",
        "5": "fünfte fünfter fünftes fünften",
        "-1": "letzte letzter letztes letzten",
    },
    units={
        "second": "sekunde sekunden sek",
        "minute": "minute minuten min",
        "hour": "stunde stunden std",
        "day": "tag tage tagen nacht nächte nächten",
        "week": "woche wochen",
        "month": "monat monate monaten",
        "quarter": "quartal quartale",
        "year": "jahr jahre jahren",
        "byte": "byte bytes",
        "kilobyte": "kb",
        "megabyte": "mb",
        "gigabyte": "gb",
        "terabyte": "tb",
        "gram": "gramm",
        "kilogram": "kg kilo kilos kilogramm",
        "metre": "meter metern",
        "kilometre": "km kilometer kilometern",
    },
    opener="bitte ok okay gut also dann jetzt nun und aber ja na mal doch hallo hi danke super"
    " prima perfekt klar genau noch übrigens ach eigentlich lieber stattdessen auch einfach",
    wish="möchte will würde brauche muss müsste sollte wünsche hätte",
    ability="kannst könntest können könnten magst würdest fähig",
    saying="sagte sagt meinte meint schrieb schreibt fragte fragt bat bittet gesagt gefragt"
    " gemeint",
    again="auch nochmal wieder ebenfalls ebenso gleich",
    sequence="dann danach anschließend",
    marker="mit_dem_text mit_text mit_den_worten und_zwar",
    named="namens titel betreff genannt",
    plural_reference="alle beide sie diese",
    manner="wie",
    article="der die das den dem mein meine meinen meiner meinem",
    help="hilfe",
    clause="dass daß",
    toward="ihm ihr ihnen dorthin dahin dort derselben demselben denselben dieselbe gleiche",
    source="von vom",
    commands={
        "show": "zeig zeige zeigt liste gib nenn nenne sag schau sieh",
        "find": "such suche finde find",
        "read": "lies lese öffne öffnen zeig",
        "send": "schick schicke sende send schreib schreibe maile leite",
        "reply": "antworte antwort schreib beantworte",
        "tell": "sag sage richte teile informiere benachrichtige",
        "remind": "erinner erinnere",
        "create": "erstelle erstell leg lege füg füge trag trage notier notiere schreib schreibe"
        " speichere speicher erinner erinnere mach merk merke setz setze",
        "delete": "lösch lösche entfern entferne wirf schmeiß streich",
        "complete": "erledige hak hake schließ schließe beende markiere",
        "move": "verschieb verschiebe archivier archiviere",
        "mark": "markier markiere kennzeichne",
        "pin": "pinne pin heft hefte fixier fixiere",
        "change": "änder ändere aktualisiere verschieb verleg verlege",
        "cancel": "storniere sag",
    },
    things={
        "account": "konto konten postfach postfächer",
        "connected": "verbunden verknüpft angeschlossen",
        "message": "nachricht nachrichten mail mails e-mail e-mails brief post posteingang"
        " geschrieben schreibt",
        "address": "adresse adressen",
        "phone": "telefon telefonnummer nummer handynummer",
        "person": "person personen kontakt kontakte absender empfänger",
        "task": "aufgabe aufgaben todo todos to-do erinnerung erinnerungen",
        "note": "notiz notizen zettel",
        "file": "datei dateien dokument dokumente anhang anhänge",
        "event": "termin termine kalender besprechung",
        "order": "bestellung bestellungen",
        "invoice": "rechnung rechnungen",
        "payment": "zahlung zahlungen überweisung",
        "price": "preis preise kosten betrag summe",
        "project": "projekt projekte",
        "folder": "ordner",
        "due": "fällig frist",
        "date": "datum tag wann uhrzeit",
        "text": "text wortlaut",
        "subject": "betreff thema titel",
        "status": "status stand",
        "total": "insgesamt gesamt",
        "unread": "ungelesen ungelesene ungelesenen",
        "overdue": "überfällig überfällige",
        "today": "heute heutige heutigen",
        "open": "offen offene offenen übrig",
        "done": "erledigt erledigte fertig",
        "pinned": "angeheftet angepinnt",
        "upcoming": "anstehend anstehende kommende nächste woche",
        "recent": "neueste letzte neu",
    },
    asks={
        "person": "wer wen wem wessen",
        "date": "wann",
        "place": "wo wohin woher",
        "count": "wieviel wieviele viele viel",
        "which": "welche welcher welches was",
    },
    values={
        "unread": "ungelesen ungelesene neue",
        "today": "heute",
        "done": "erledigt erledigte fertig",
        "overdue": "überfällig",
        "open": "offen offene",
        "all": "alle",
        "high": "wichtig dringend",
        "drafts": "entwurf entwürfe",
        "attachments": "anhang anhänge",
    },
)

SENTENCES: Sentences = {
    "receipt_done": "{what}: erledigt",
    "receipt_failed": "{what}: fehlgeschlagen – {why}",
    "receipt_waiting": "{what}: wartet auf Ihr Ja",
    "receipt_unknown": "{what}: keine Antwort, vielleicht ausgeführt, vielleicht nicht",
    "receipt_running": "{what}: läuft noch",
    "receipt_not_run": "{what}: nicht ausgeführt – {why}",
    "looked_up": "{n} nachgesehen",
    "changed": "{n} geändert",
    "changed_nothing": "nichts geändert",
    "calls_failed": "{n} fehlgeschlagen",
    "data_holds": "In den Daten: {what}.",
    "hello": "Hallo! Ich bin der kleine Helfer, der mit Webbee kommt, kein "
    "Sprachmodell. Probieren Sie zum Beispiel: {examples}",
    "nothing_more": "Mehr kann ich hier nicht tun.",
    "not_understood": "Das habe ich nicht verstanden: Ich bin nur der kleine eingebaute "
    "Helfer, kein "
    "Sprachmodell. Ich kenne Sätze wie diese: {examples}",
    "which_command": "Das lässt sich verschieden verstehen. Was ist gemeint: {examples}?",
    "which_record": "Was davon ist gemeint: {records}?",
    "which_is_not_shown": "Ich sehe nicht, was gemeint ist. Lassen Sie es sich erst zeigen: "
    "{examples}",
    "no_apps": "Es ist noch keine App installiert, deshalb kann ich nichts tun.",
    "form_to_send": "Vielleicht habe ich nicht jedes Wort verstanden, deshalb ist noch nichts "
    "geschehen. Hier ist das Formular zum Prüfen und Absenden: {what}",
    "form_send": "Absenden",
    "use_a_model": "Ein echtes Sprachmodell verwenden",
    "noted": "Ich habe nichts getan. Soll ich etwas tun, zum Beispiel: {examples}?",
    "remembered": "Aus den Runden, an die ich mich erinnere: {what}.",
    "welcome": "Bitte, gern!",
    "limit_of_requests": {
        "one": "Das war viel auf einmal. Bitte versuchen Sie es in {n} Sekunde noch einmal.",
        "other": "Das war viel auf einmal. Bitte versuchen Sie es in {n} Sekunden noch einmal.",
    },
    "limit_of_tokens": "Ihr Kontingent für heute ist aufgebraucht. Um Mitternacht (UTC) geht es"
    " weiter.",
    "limit_of_all": "Das gemeinsame Kontingent für heute ist aufgebraucht. Um Mitternacht (UTC)"
    " geht es weiter.",
    "gave_up": "Ich konnte nicht erkennen, was zu tun ist. Bitte sagen Sie es anders oder genauer.",
    "still_to_do": "Noch nicht ausgeführt: {calls}.",
    "unfinished_rounds": "Noch nicht alles ist erledigt: Es waren zu viele Schritte für eine"
    " Nachricht. Sagen Sie „weiter“, dann mache ich weiter. Bisher:",
    "unfinished_tokens": "Noch nicht alles ist erledigt: Die Tokens für eine Nachricht sind"
    " aufgebraucht. Sagen Sie „weiter“, dann mache ich weiter. Bisher:",
    "stopped": "Wie gewünscht angehalten.",
    "unfinished_time": "Noch nicht alles ist erledigt: Die Zeit für eine Nachricht war um."
    " Sagen Sie „weiter“, dann mache ich weiter. Bisher:",
    "unfinished_model": "Noch nicht alles ist erledigt: Das Modell hat nicht geantwortet. Sagen"
    " Sie „weiter“, dann mache ich weiter. Bisher:",
    "nothing_done": "In Ordnung, es wurde nichts getan.",
    "said_yes": "ja",
    "said_no": "nein",
    "ask_delete": "{what} löschen?",
    "ask_send": "{what} senden?",
    "ask_create": "{what} anlegen?",
    "ask_update": "{what} ändern?",
    "ask_move": "{what} verschieben?",
    "card_ask": "Ja oder nein – soll ich das tun?",
    "card_ask_all": "Ja oder nein – soll ich das alles tun?",
    "card_several": {"one": "Das tun?", "other": "Diese {n} Dinge tun?"},
    "card_verb_all": "Alles tun",
    "card_verb_delete": "Löschen",
    "card_verb_send": "Senden",
    "card_verb_create": "Anlegen",
    "card_verb_update": "Ändern",
    "card_verb_move": "Verschieben",
    "being_answered": "Diese Antwort wird gerade ausgeführt.",
    "broke": "ein Fehler der App selbst; wer sie betreut, findet ihn unter {n}.",
    "unavailable": "Der Assistent ist gerade nicht erreichbar."
    " Bitte versuchen Sie es in ein paar Minuten wieder.",
    "unanswered": "Eine App hat nicht geantwortet: Vielleicht ist es geschehen, vielleicht"
    " nicht. Bitte sehen Sie nach, bevor Sie noch einmal bitten.",
    "incident": "Bei uns ist etwas schiefgegangen. Wenn es wieder geschieht, nennen Sie dem"
    " Betreiber die Nummer {n}.",
    "app_away": "Diese App ist gerade nicht verfügbar: Sie ist nicht gestartet. Warum, weiß der"
    " Betreiber.",
    "value_unknown": "eine Angabe, die es braucht, ist nicht bekannt",
    "nothing_found": "Es wurde nichts gefunden.",
    "items": {"one": "{n} Eintrag", "other": "{n} Einträge"},
    "and_more": {"one": "und {n} weiterer", "other": "und {n} weitere"},
    "refused_missing": "„{field}“ fehlt",
    "refused_long": "„{field}“: höchstens {limit} Zeichen",
    "refused_short": "„{field}“: mindestens {limit} Zeichen",
    "refused_most": "„{field}“: höchstens {limit}",
    "refused_below": "„{field}“: weniger als {limit}",
    "refused_least": "„{field}“: mindestens {limit}",
    "refused_above": "„{field}“: mehr als {limit}",
    "refused_one_of": "„{field}“: eines von {limit}",
    "refused_number": "„{field}“: hier gehört eine Zahl hin",
    "refused_other": "„{field}“: dieser Wert passt nicht",
    "label_id": "worum genau es geht",
    "label_ids": "worum genau es geht",
    "label_to": "die Adresse des Empfängers",
    "label_body": "der Text",
    "label_text": "der Text",
    "label_title": "wie es heißen soll",
    "label_subject": "der Betreff",
    "label_query": "wonach gesucht werden soll",
    "label_due": "das Datum",
    "oauth_ask_title": "{provider} mit {app} verbinden?",
    "oauth_ask": "Es wird für {user} verbunden. Fahren Sie nur fort, wenn Sie das sind und es"
    " gerade selbst begonnen haben.",
    "oauth_go": "Verbinden",
    "oauth_done_title": "Verbunden",
    "oauth_done": "{what}. Sie können diese Seite schließen und zum Chat zurückkehren.",
    "oauth_failed_title": "Nicht verbunden",
    "oauth_over": "Diese Anmeldung ist vorbei: Sie wurde schon abgeschlossen oder vor mehr als zehn"
    " Minuten begonnen. Kehren Sie zum Chat zurück und beginnen Sie neu.",
    "oauth_declined": "{provider} meldet: {reason}. Es wurde nichts gespeichert. Kehren Sie zum"
    " Chat zurück, um neu zu beginnen.",
    "oauth_failed": "{reason}. Es wurde nichts gespeichert. Kehren Sie zum Chat zurück und beginnen"
    " Sie neu.",
}

PEOPLE = People(
    passport_keys="reisepass pass passnummer ausweis ausweisnummer",
    passport_words=("reisepass", "passnummer", "ausweisnummer"),
    identity_keys="steuerid steuernummer steueridentifikationsnummer sozialversicherungsnummer"
    " rentenversicherungsnummer versicherungsnummer versichertennummer rvnr kvnr",
    identity_words=(
        "steuer-id",
        "steuernummer",
        "steueridentifikationsnummer",
        "sozialversicherungsnummer",
        "rentenversicherungsnummer",
        "versicherungsnummer",
        "versichertennummer",
        "krankenversichertennummer",
    ),
    passwords="passwort passwörter kennwort zugangscode",
    pin_keys="geheimzahl",
    tokens="zugangstoken schlüssel",
    secret_words=(
        "passwort",
        "kennwort",
        "zugangscode",
        "zugangsschlüssel",
        "api-schlüssel",
        "geheimer schlüssel",
        "geheimzahl",
        "bestätigungscode",
        "türcode",
    ),
    secret_links=("ist", "lautet", "ist jetzt", "war"),
    title_keys="titel betreff bezeichnung name",
    given="jürgen juergen jörg joerg günter günther guenter gerhard dieter uwe ralf rolf bernd"
    " helmut manfred holger torsten thorsten carsten karsten detlef ute heike sabine anke silke"
    " birgit elke renate gisela ingeborg brigitte monika claudia katrin kathrin anja antje ulrike"
    " ulrich friedrich florian moritz fabian tobias johann klara greta lieselotte hildegard jochen"
    " kai sönke steffen",
    surnames="schulz schulze bauer koch richter klein wolf schröder schroeder neumann schwarz"
    " zimmermann braun krüger krueger hofmann hartmann lange schmitt werner krause lehmann köhler"
    " koehler maier huber kaiser fuchs scholz möller moeller jung hahn vogel friedrich keller"
    " günther frank berger winkler roth beck lorenz baumann albrecht simon ludwig böhm kraus"
    " schumacher vogt jäger stein otto groß seidel heinrich brandt haas schreiber graf dietrich"
    " ziegler kuhn kühn pohl engel horn busch bergmann",
    not_names="alle kolleginnen kollegen anfrage angebot anhang anruf arbeit aufgabe auftrag"
    " ausgabe bank bericht besprechung bestellung betreff bitte buchung büro datei daten der die"
    " das den deutsche deutscher dienst dokument einkauf einladung entwurf ergebnis erinnerung"
    " firma frage gesellschaft gmbh grüße guten haus heute hotel ich ihr ihre jahr jahres kalender"
    " konferenz konto kosten kunde kunden lager lieferung liste mail mein meine meeting mitarbeiter"
    " monat nachricht neu neue neuer neues notiz ordner plan preis produkt projekt protokoll"
    " quartal rechnung reise schule seite sitzung sprint stadt status straße strasse stunde tag"
    " tage team termin test thema thread ticket und unterlagen unternehmen urlaub verein verkauf"
    " vertrag vertrieb verwaltung vorlage werk woche zahlung zeit zentrale zum zur für mit von im"
    " am bahnhof platz brücke park berg see",
    place_leads="bad sankt schloss burg insel",
    honorifics="Herr Herrn Frau Fräulein Lieber Liebe",
    greetings=("Hallo", "Guten Tag", "Viele Grüße", "Mit freundlichen Grüßen", "Danke", "Grüße"),
    labels=(
        "name",
        "vorname",
        "nachname",
        "kunde",
        "kundin",
        "absender",
        "empfänger",
        "von",
        "ansprechpartner",
        "ansprechpartnerin",
        "kontakt",
        "bearbeiter",
        "teilnehmer",
    ),
    links="und von",
    nobody="keine keiner unbekannt anonym niemand leer",
    roles="kunde kundin kunden absender absenderin empfänger empfängerin verfasser verfasserin"
    " autor autorin auftraggeber auftragnehmer ansprechpartner ansprechpartnerin kontakt"
    " kontaktperson mitarbeiter mitarbeiterin bearbeiter bearbeiterin teilnehmer teilnehmerin"
    " besitzer inhaber inhaberin käufer käuferin verkäufer verkäuferin patient patientin bewerber"
    " bewerberin gast gäste mieter vermieter schüler lehrer arzt ärztin fahrer versicherter"
    " zuständig zuständiger verantwortlich verantwortlicher vorgesetzter kollege kollegin freund"
    " freundin personen person mitglied organisator ersteller zugewiesen",
    sure_keys="vorname nachname familienname zuname geburtsname rufname vollname",
    name_words="name namen",
    part_words="vor nach familien zu geburts voller vollständiger ganzer",
    address_keys="von",
    never_keys="datei ordner verzeichnis projekt produkt artikel firma unternehmen gesellschaft"
    " stadt land strasse ort region abteilung gruppe team kategorie benutzer anmelde login spalte"
    " tabelle feld marke modell gerät titel veranstaltung dienst liste kanal server domain haupt"
    " bereich verein lager konto kampagne spiel hotel gebäude raum",
    phone_keys="telefon telefonnummer handy handynummer mobil mobilnummer mobiltelefon rufnummer"
    " fax faxnummer festnetz telefonnr",
    phone_tails="nummer nr privat geschäftlich dienstlich",
    phone_words=(
        "erreichbar unter",
        "rufen sie mich an unter",
        "ruf mich an unter",
        "meine nummer",
        "anrufen unter",
        "telefon",
        "telefonnummer",
        "tel",
        "handy",
        "handynummer",
        "mobil",
        "fax",
        "rufnummer",
    ),
    phone_links="nummer nr lautet ist",
)


LANGUAGE = Language(
    tag="de",
    stemmer="german",
    capital_nouns=True,
    participles=r"[a-zäöü-]*ge[a-zäöü]{2,}(?:t|en|n)|[a-zäöü]{3,}iert"
    r"|(?:be|er|ver|ent|zer|über|unter|wider|wieder)[a-zäöü]{2,}(?:t|en)|(?:ab|an|auf|ein"
    r"|aus|ent)fernt",
    letters="ß",
    before=r".+e[nmrs]?",
    words=WORDS,
    people=PEOPLE,
    sentences=SENTENCES,
    regions=("DE", "AT", "CH"),
    currencies={
        "USD": "dollar dollars us-dollar",
        "EUR": "euro euros",
        "GBP": "pfund",
        "RUB": "rubel",
        "JPY": "yen",
        "CHF": "franken",
        "CNY": "yuan",
        "INR": "rupie rupien",
    },
    numerals=Numerals(
        library="de",
        scales={
            10**3: "tausend tsd",
            10**6: "million millionen mio",
            10**9: "milliarde milliarden mrd",
        },
        rough={"12": "dutzend", "0.5": "halb halbe halbes halber hälfte", "1.5": "anderthalb"},
        one="ein eine einen einem einer eines eins",
        ordinal_endings="te ten ter tes",
        percent="prozent",
        group=".",
        decimal=",",
    ),
    calendar=Calendar(
        months={1: "jänner", 3: "mrz"},
        days={"0": "heute", "1": "morgen", "2": "übermorgen", "-1": "gestern", "-2": "vorgestern"},
        until="bis",
        together="und",
        at="um gegen bis ab von vor nach zwischen seit",
        between="zwischen von",
        parts="viertel halb dreiviertel",
        ahead="in",
        ago="vor",
        next="nächste nächster nächstes nächsten nächstem kommende kommenden",
        last="letzte letzter letztes letzten letztem vergangene vergangenen vorige vorigen",
        this="diese dieser dieses diesen diesem",
        hour="uhr",
        morning="früh vormittags morgens",
        evening="abends nachmittags",
        noon="mittag mittags",
        midnight="mitternacht",
        day_suffix="te ten ter",
    ),
)
