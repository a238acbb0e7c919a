"""French."""

from __future__ import annotations

from .model import Calendar, Language, Numerals, People, Sentences, Words

WORDS = Words(
    "fr",
    common="as attend avez avons bien cherché choses comme comparé compris compté confirmation"
    " confirmer confirmez consulté e-mails essayé eur expliqué fut gbp id indiqué intitulé"
    " j'ai juste mentionné nombre nommé nommée noté nouvelle parcouru parvenu pdf regardé"
    " résumé s t tenté texte toujours trouvé tva url usd validation valider vu vérifié été",
    begin="s'il_te_plaît s'il_vous_plaît stp svp bonjour salut ok peux-tu pouvez-vous "
    "tu_peux vous_pouvez pourrais-tu pourriez-vous je_veux je_voudrais j'aimerais "
    "il_faut webbee maintenant",
    end="s'il_te_plaît s'il_vous_plaît stp svp merci pour_moi maintenant encore ok",
    ask="montre-moi montrez-moi montre affiche donne-moi donnez-moi dis-moi liste "
    "quel_est quelle_est quels_sont quelles_sont qu'est-ce_que",
    address="adresse mail e-mail email courriel",
    negation="ne n pas jamais rien personne aucun aucune sans ni non",
    question="quel quelle quels quelles qui que quoi où quand pourquoi comment combien",
    prohibition="ne n pas jamais sans arrête évite",
    greeting="bonjour bonsoir salut coucou",
    thanks="merci remercie",
    yes="oui ouais accord ok okay confirme confirmé accepte vas-y parfait exact",
    yes_filler="s'il vous te plaît le la les ça tout supprime supprime-le envoie envoie-le d",
    no="non annule annuler arrête stop refuse jamais pas aucun aucune oublie laisse",
    no_filler="maintenant attends le la ça s'il te vous plaît merci d entre eux elles tomber rien",
    resume="continue continuer continuez poursuis poursuivre",
    undo="annule annuler annulez défais défaire",
    reference="le la les ce ça cela cet cette ces celui celle ceux même mêmes précédent"
    " précédente là",
    went="abouti aboutie marché fonctionné parti partie réussi passé passée arrivé",
    recency="je nous viens créé ajouté écrit enregistré envoyé reçu",
    function="moi toi eux le la les l un une des du de d et ou mais à au aux en dans avec pour par"
    " sur que qui est sont être était a ont avoir ai il y je j tu il elle nous vous ils elles me te"
    " se lui leur mon ma mes ton ta tes son sa ses notre nos votre vos ce cet cette ces plus très"
    " déjà aussi si ne pas plaît montre donne veux peux peut c'est s'il d'un d'une l'adresse qu'il"
    " qu'est faire quelque chose dois doit",
    quantifier="tout toute tous toutes chaque quelques aucun plusieurs deux beaucoup peu moitié",
    plan="vais va allons pourrait peut devrait doit si quand lorsque jusqu après avant sera",
    listing="statut état liste contient comprend compte vois voit voyez voici voilà ici là"
    " montre figurent figure existe existent trouve"
    " résultat réponse bref courte total totalise dénombre recense ressort ressortent donne"
    " affiche système actuellement moment",
    either="inclus utilisé traduit",
    about="environ presque autour près quasiment approximativement vers quelque",
    more="plus minimum dépasse dépassent excède",
    less="moins maximum",
    average="moyenne moyen",
    total="total somme ensemble",
    difference="différence écart hausse baisse plus moins cher manque respectivement",
    and_="et",
    failure="échoué échec erreur pu impossible problème",
    recent="viens venons",
    matter="demande modification modifications opération action étape processus",
    trouble="problème problèmes erreur erreurs souci",
    label="sous champ colonne rubrique",
    happened="appliqué exécuté effectif accepté accepte terminé traité fait succès",
    unfinished="brouillon file attente refusé rejeté ignoré indisponible bloqué différé",
    cause="parce car cause raison",
    empty="vide vides néant",
    done="fait terminé réussi prêt accompli succès",
    limits="avant après apres jusqu jusque depuis dès des entre sauf hormis sans ou outre"
    " mais tandis alors",
    rest="autres autre plus supplémentaires restants omis omises masqués",
    possession="votre vos ton ta tes vous tu",
    drafting="écris rédige traduis propose suggère raccourcis reformule réécris",
    effects={
        "send": "envoyer envoyé envoyée envoie transférer répondre répondu notifier notifié inviter"
        " invité",
        "delete": "supprimer supprimé supprimée supprime effacer effacé retirer retiré vider vidé",
        "create": "ouvrir ouvert ouverte créer créé créée crée ajouter ajouté ajoutée ajoute"
        " rédiger rédigé écrire écrit enregistrer",
        "update": "fixer fixé défini définie modifier modifié modifiée changer changé corriger"
        " corrigé renommer renommé remplacer remplacé démarrer arrêter actualiser actualisé",
        "move": "reprogrammer reprogrammé"
        " déplacer déplacé archiver archivé reporter reporté transféré",
        "save": "sauvegarder sauvegardé enregistré publier publié partager partagé copier copié"
        " exporter importer télécharger",
        "schedule": "planifier planifié réserver réservé programmer programmé",
        "close": "résoudre résolu résolue annulée"
        " annuler annulé annulée fermer fermé terminer terminé approuver approuvé accepter"
        " accepté refuser refusé marquer marqué désactiver activer bloquer",
        "pay": "placer placé passé passée déposer déposé effectué effectuée payer payé rembourser"
        " remboursé acheter acheté vendre vendu commander commandé débiter signer signé",
    },
    plural_reference="ces ceux celles tous toutes",
    toward="lui leur y eux même",
    clause="que qu",
    source="de d",
    commands={
        "show": "montre affiche donne liste dis",
        "find": "cherche trouve",
        "read": "lis ouvre montre",
        "send": "envoie écris",
        "reply": "réponds",
        "tell": "dis préviens informe",
        "remind": "rappelle",
        "create": "ajoute crée note mets fais enregistre",
        "record": "note écris",
        "delete": "supprime efface enlève retire jette",
        "complete": "termine coche finis",
        "move": "déplace archive",
        "mark": "marque",
        "pin": "épingle",
        "change": "change modifie reporte",
        "cancel": "annule",
    },
    ability="peux pouvez pourrais pourriez sais savez peux-tu pouvez-vous sais-tu",
    help="faire aide aider",
    asks={
        "person": "qui",
        "date": "quand",
        "place": "où",
        "count": "combien",
        "which": "quoi quel quelle quels quelles qu'est-ce",
    },
    objects={
        "message": "message messages courriel courriels e-mail",
        "task": "tâche tâches rappel rappels",
        "note": "note notes",
        "file": "fichier fichiers document documents",
        "folder": "dossier dossiers",
        "event": "événement événements réunion réunions rendez-vous",
        "person": "contact contacts personne personnes passager",
        "user": "utilisateur utilisateurs membre ami amis",
        "order": "commande commandes ordre ordres",
        "invoice": "facture factures",
        "payment": "paiement paiements transaction transactions virement",
        "booking": "réservation réservations",
        "fare": "tarif tarifs prix",
        "flight": "vol vols voyage",
        "hotel": "hôtel hôtels",
        "restaurant": "restaurant restaurants",
        "car": "voiture voitures véhicule",
        "card": "carte cartes",
        "stock": "action actions",
        "ticket": "ticket tickets incident billet",
        "post": "publication publications",
        "comment": "commentaire commentaires réponse",
        "review": "avis",
        "channel": "canal canaux",
        "product": "produit produits article articles",
        "account": "compte comptes",
        "project": "projet projets",
        "photo": "photo photos image",
        "room": "chambre chambres",
        "city": "ville villes",
        "airport": "aéroport aéroports",
        "company": "entreprise entreprises société sociétés compagnie compagnies agence agences",
        "result": "résultat résultats",
    },
    states={
        "answer:yes": "oui",
        "answer:no": "non",
        "class:economy": "économique",
        "class:business": "affaires",
        "class:first": "première",
        "life:open": "ouvert ouverte",
        "life:closed": "achevé exécuté fermé fermée résolu",
        "life:pending": "attente",
        "life:cancelled": "annulé annulée",
        "life:confirmed": "confirmé confirmée",
        "life:rejected": "refusé rejeté",
        "money:paid": "payé payée",
        "money:unpaid": "impayé impayée",
        "seen:read": "lu lue",
        "mail:sent": "envoyé envoyée",
        "mail:received": "reçu reçue",
        "mail:draft": "brouillon",
        "use:active": "actif active",
        "use:inactive": "inactif inactive",
        "have:available": "disponible",
        "side:buy": "achat",
        "side:sell": "vente",
        "run:good": "réussi réussie",
        "run:bad": "échoué échouée",
        "level:normal": "normal normale",
        "level:low": "bas basse faible",
        "level:medium": "moyen moyenne",
        "level:high": "haut haute élevé",
        "level:urgent": "urgent urgente",
    },
    ordinals={
        "1": "premier première",
        "2": "deuxième second seconde",
        "3": "troisième",
        "4": "quatrième",
        "5": "cinquième",
        "-1": "dernier dernière",
    },
    units={
        "second": "seconde secondes sec",
        "minute": "minute minutes min",
        "hour": "heure heures",
        "day": "jour jours nuit nuits",
        "week": "semaine semaines",
        "month": "mois",
        "quarter": "trimestre trimestres",
        "year": "an ans année années",
        "byte": "octet octets",
        "kilobyte": "ko",
        "megabyte": "mo",
        "gigabyte": "go",
        "terabyte": "to",
        "gram": "gramme grammes",
        "kilogram": "kg kilo kilos kilogramme kilogrammes",
        "metre": "mètre mètres",
        "kilometre": "km kilomètre kilomètres",
    },
    values={
        "unread": "nouveau nouveaux lus",
        "done": "fait faite terminé",
        "overdue": "retard",
        "open": "ouvert ouverte",
        "all": "tous toutes",
        "high": "important urgent",
        "drafts": "brouillon brouillons",
        "attachments": "jointe jointes",
    },
)

SENTENCES: Sentences = {
    "receipt_done": "{what} : fait",
    "receipt_failed": "{what} : échec – {why}",
    "receipt_waiting": "{what} : attend votre oui",
    "receipt_unknown": "{what} : pas de réponse, on ne sait pas si c'est fait",
    "receipt_running": "{what} : en cours",
    "receipt_not_run": "{what} : non exécuté – {why}",
    "looked_up": "consulté : {n}",
    "changed": "modifié : {n}",
    "changed_nothing": "rien de modifié",
    "calls_failed": "échoué : {n}",
    "data_holds": "Dans les données : {what}.",
    "hello": "Bonjour ! Je suis le petit assistant fourni avec Webbee, pas "
    "un modèle de langage. Essayez par exemple : {examples}",
    "nothing_more": "Je ne peux rien faire de plus ici.",
    "not_understood": "Je n'ai pas compris : je ne suis que le petit assistant intégré, pas "
    "un modèle "
    "de langage. Je connais des phrases comme celles-ci : {examples}",
    "which_command": "Cela peut se comprendre de plusieurs façons. Laquelle voulez-vous dire : "
    "{examples} ?",
    "which_record": "Lequel voulez-vous dire : {records} ?",
    "which_is_not_shown": "Je ne vois pas lequel vous voulez dire. Demandez-moi d'abord de "
    "l'afficher : "
    "{examples}",
    "no_apps": "Aucune application n'est encore installée, je ne peux donc rien faire.",
    "form_to_send": "Je n'ai peut-être pas compris chaque mot, je n'ai donc encore rien fait. "
    "Voici "
    "le formulaire à vérifier et à envoyer : {what}",
    "form_send": "Envoyer",
    "use_a_model": "Utiliser un vrai modèle de langage",
    "noted": "Je n'ai rien fait. Dois-je faire quelque chose, par exemple : {examples} ?",
    "remembered": "Des échanges dont je me souviens : {what}.",
    "welcome": "Je vous en prie.",
    "limit_of_requests": {
        "one": "Cela fait beaucoup à la fois. Réessayez dans {n} seconde.",
        "other": "Cela fait beaucoup à la fois. Réessayez dans {n} secondes.",
    },
    "limit_of_tokens": "Votre quota du jour est épuisé. Cela reprend à minuit (UTC).",
    "limit_of_all": "Le quota commun du jour est épuisé. Cela reprend à minuit (UTC).",
    "gave_up": "Je n'ai pas compris ce qu'il faut faire. Dites-le autrement ou plus précisément.",
    "still_to_do": "Pas encore exécuté : {calls}.",
    "unfinished_rounds": "Tout n'est pas encore fait : il fallait trop d'étapes pour un"
    " message. Dites « continue » et je poursuis. Pour l'instant :",
    "unfinished_tokens": "Tout n'est pas encore fait : les jetons d'un message sont épuisés."
    " Dites « continue » et je poursuis. Pour l'instant :",
    "stopped": "Arrêté, comme demandé.",
    "unfinished_time": "Tout n'est pas encore fait : le temps d'un message est écoulé. Dites «"
    " continue » et je poursuis. Pour l'instant :",
    "unfinished_model": "Tout n'est pas encore fait : le modèle n'a pas répondu. Dites «"
    " continue » et je poursuis. Pour l'instant :",
    "nothing_done": "D'accord, rien n'a été fait.",
    "said_yes": "oui",
    "said_no": "non",
    "ask_delete": "Supprimer {what} ?",
    "ask_send": "Envoyer {what} ?",
    "ask_create": "Créer {what} ?",
    "ask_update": "Modifier {what} ?",
    "ask_move": "Déplacer {what} ?",
    "card_ask": "Oui ou non – dois-je le faire ?",
    "card_ask_all": "Oui ou non – dois-je faire tout cela ?",
    "card_several": {"one": "Faire cette action ?", "other": "Faire ces {n} actions ?"},
    "card_verb_all": "Tout faire",
    "card_verb_delete": "Supprimer",
    "card_verb_send": "Envoyer",
    "card_verb_create": "Créer",
    "card_verb_update": "Modifier",
    "card_verb_move": "Déplacer",
    "being_answered": "Cette réponse est en cours d'exécution.",
    "broke": "une erreur de l'application elle-même ; qui s'en occupe la trouve sous {n}.",
    "unavailable": "L'assistant n'est pas disponible pour le moment."
    " Réessayez dans quelques minutes.",
    "unanswered": "Une application n'a pas répondu : on ne sait pas si c'est fait. Vérifiez"
    " avant de redemander.",
    "incident": "Une erreur s'est produite de notre côté. Si cela se répète, donnez le numéro"
    " {n} à l'exploitant.",
    "app_away": "Cette application est indisponible : elle n'a pas démarré. L'exploitant sait"
    " pourquoi.",
    "value_unknown": "une valeur nécessaire n'est pas connue",
    "nothing_found": "Rien n'a été trouvé.",
    "items": {"one": "{n} élément", "other": "{n} éléments"},
    "and_more": {"one": "et {n} autre", "other": "et {n} autres"},
    "refused_missing": "il manque « {field} »",
    "refused_long": "« {field} » : {limit} caractères au plus",
    "refused_short": "« {field} » : {limit} caractères au moins",
    "refused_most": "« {field} » : {limit} au plus",
    "refused_below": "« {field} » : moins de {limit}",
    "refused_least": "« {field} » : {limit} au moins",
    "refused_above": "« {field} » : plus de {limit}",
    "refused_one_of": "« {field} » : l'une de ces valeurs : {limit}",
    "refused_number": "« {field} » : il faut un nombre",
    "refused_other": "« {field} » : cette valeur ne convient pas",
    "label_id": "de quoi il s'agit",
    "label_ids": "de quoi il s'agit",
    "label_to": "l'adresse du destinataire",
    "label_body": "le texte",
    "label_text": "le texte",
    "label_title": "comment l'appeler",
    "label_subject": "l'objet",
    "label_query": "ce qu'il faut chercher",
    "label_due": "la date",
    "oauth_ask_title": "Connecter {provider} à {app} ?",
    "oauth_ask": "La connexion se fera pour {user}. Ne continuez que si c'est vous et que vous"
    " l'avez commencée vous-même il y a un instant.",
    "oauth_go": "Connecter",
    "oauth_done_title": "Connecté",
    "oauth_done": "{what}. Vous pouvez fermer cette page et revenir au chat.",
    "oauth_failed_title": "Non connecté",
    "oauth_over": "Cette connexion est terminée : elle a déjà abouti ou a commencé il y a plus de"
    " dix minutes. Revenez au chat et recommencez.",
    "oauth_declined": "{provider} signale : {reason}. Rien n'a été enregistré. Revenez au chat pour"
    " recommencer.",
    "oauth_failed": "{reason}. Rien n'a été enregistré. Revenez au chat et recommencez.",
}

PEOPLE = People(
    passport_keys="passeport",
    passport_words=("passeport", "passeport numéro"),
    identity_keys="nir numerosecu securitesociale",
    identity_words=("numéro de sécurité sociale", "sécurité sociale", "nir"),
    passwords="motdepasse mdp",
    tokens="jeton",
    secret_words=(
        "mot de passe",
        "mdp",
        "clé api",
        "clé d'api",
        "clé secrète",
        "code secret",
        "code d'accès",
        "code de vérification",
        "digicode",
        "jeton",
    ),
    secret_links=("est", "est maintenant", "c'est"),
    title_keys="titre objet sujet nom",
    given="françois jérôme stéphane rené andré frédéric sébastien cédric grégory ludovic guillaume"
    " mathieu matthieu benoît benoit étienne etienne émile emile hervé gaël loïc yves thierry"
    " pascal didier gilles fabrice franck jacques jean-pierre jean-luc jean-paul marie-claire"
    " aurélie amélie céline hélène mélanie noémie océane chloé zoé anaïs élodie elodie delphine"
    " sandrine véronique brigitte chantal sylvie nathalie martine odile solange thérèse ghislaine"
    " mireille manon clémence",
    surnames="bernard petit robert durand leroy moreau laurent lefebvre michel garcia bertrand roux"
    " fournier girard bonnet dupont lambert fontaine rousseau blanc guerin muller henry roussel"
    " nicolas perrin morin mathieu clement gauthier dumont lopez chevalier robin masson gautier"
    " garnier legrand faure mercier andre françois leclerc renard lemaire dupuis brun barbier"
    " arnaud aubert olivier lacroix fabre brunet",
    not_names="accès achat adresse agence appel atelier banque bienvenue bilan bon bonjour bureau"
    " calendrier ce client clients commande compte compte-rendu congés contrat cours courrier date"
    " demande devis document documents dossier départ envoi entreprise équipe essai état facture"
    " factures fiche fichier fin gestion groupe hôtel facturation histoire jour journée la le les"
    " lettre liste livraison magasin mes mois mon message nouveau nouvelle note notes nouvelles"
    " offre paiement pause plan point produit projet questions rappel rapport rendez-vous"
    " réservation réunion revue rue résumé semaine service site société suivi tableau tâche tâches"
    " test une un vente ventes ville visite voyage de du des et en pour avec gare place pont parc"
    " tour université",
    place_leads="île îles mont lac port cap château notre",
    honorifics="Mme Mlle Monsieur Madame Mademoiselle Maître Cher Chère",
    greetings=("Bonjour", "Bonsoir", "Salut", "Merci", "Cordialement"),
    labels=(
        "nom",
        "prénom",
        "client",
        "cliente",
        "expéditeur",
        "destinataire",
        "auteur",
        "contact",
        "responsable",
        "de",
        "demandeur",
    ),
    links="et avec de",
    nobody="aucun aucune inconnu inconnue anonyme personne néant",
    roles="client cliente clients expéditeur expéditrice destinataire auteur autrice contact"
    " contacts interlocuteur interlocutrice responsable employé employée salarié salariée demandeur"
    " demandeuse propriétaire titulaire acheteur acheteuse vendeur vendeuse patient patiente élève"
    " professeur médecin conducteur passager invité invitée participant participante participants"
    " organisateur organisatrice bénéficiaire personne personnes candidat candidate signataire"
    " gérant membre créateur collaborateur collaboratrice locataire assigné",
    sure_keys="prénom prénoms nomcomplet nomdefamille patronyme",
    self_keys="utilisateur profil personne",
    name_words="nom noms",
    part_words="complet famille prénom naissance",
    address_keys="cci",
    never_keys="fichier dossier répertoire projet produit article entreprise société compagnie"
    " ville pays rue lieu région département groupe équipe catégorie utilisateur login colonne"
    " table champ marque modèle appareil titre événement service liste canal serveur domaine"
    " magasin compte campagne jeu hôtel bâtiment salle",
    phone_keys="téléphone téléphones tél portable mobile fixe fax télécopie",
    phone_tails="numéro domicile bureau professionnel personnel",
    phone_words=(
        "joignable au",
        "rappelez-moi au",
        "rappeler au",
        "mon numéro",
        "appelle-moi au",
        "téléphone",
        "tél",
        "tel",
        "portable",
        "mobile",
        "fax",
        "appelez le",
        "appelez-moi au",
    ),
    phone_links="numéro est",
)


LANGUAGE = Language(
    tag="fr",
    stemmer="french",
    participles=r"(?!\w+rai$)[a-zàâçéèêëîïôûù-]{2,}(?:ée?s?|ie?s?|ue?s?|ite?s?|erte?s?)",
    letters="œ",
    before=r".+",
    behind=r".+[sx]",
    words=WORDS,
    people=PEOPLE,
    sentences=SENTENCES,
    regions=("FR", "BE", "CH", "CA"),
    currencies={
        "USD": "dollar dollars",
        "EUR": "euro euros",
        "GBP": "livre livres",
        "RUB": "rouble roubles",
        "JPY": "yen yens",
        "CHF": "franc francs",
        "CNY": "yuan yuans",
        "INR": "roupie roupies",
    },
    numerals=Numerals(
        library="fr",
        scales={
            10**3: "mille millier milliers",
            10**6: "million millions",
            10**9: "milliard milliards",
        },
        rough={
            "12": "douzaine douzaines",
            "10": "dizaine dizaines",
            "20": "vingtaine",
            "30": "trentaine",
            "100": "centaine centaines",
            "0.5": "demi demie moitié",
        },
        one="un une",
        ordinal_endings="er ère ere e è eme ème re nd nde",
        percent="pour_cent pourcent",
        group=" ",
        decimal=",",
    ),
    calendar=Calendar(
        days={
            "0": "aujourd'hui",
            "1": "demain",
            "2": "après-demain",
            "-1": "hier",
            "-2": "avant-hier",
        },
        inside="de",
        until="au à jusqu'au",
        together="et",
        at="à vers dès avant après jusqu'à",
        between="entre de",
        parts="quart demie moins",
        ahead="dans d'ici",
        ago="il_y_a",
        next="prochain prochaine",
        last="dernier dernière passé passée",
        this="ce cet cette",
        hour="h heure heures",
        morning="matin",
        evening="soir après-midi",
        noon="midi",
        midnight="minuit",
        doubtful="mars",
        month_lead="en fin début mi et ou",
        day_suffix="er",
    ),
)
