"""Given names, surnames and words of titles, in English and Russian, for the name detector.

Compiled by hand from the names in everyday use; a name that is also a common word (Will, Mark, Grace, May, Rose, Роза, Вера, Любовь)
is kept apart and counts only before a common surname. Latin names are case-folded, Cyrillic ones are declined when first needed.
"""

from collections.abc import Iterable

GIVEN_LATIN = frozenset(
    """
    aaron abigail adam adrian agnes ahmed alan albert alejandro alex alexander alexandra alexei alexey alice alina alison amanda amelia amy ana
    anastasia andrea andreas andrei andrew andrey angela angelina anita anna anne annie anthony anton antonio antony arthur artyom ashley
    barbara ben benjamin bernard beth betty boris brandon brenda brian bruce bryan camille carl carla carlos carmen carol caroline
    catherine cathy charles chloe chris christian christina christine christopher claire clara claudia craig cynthia daniel daniela daniil
    danielle darya david deborah debra denis dennis diana diego dmitri dmitry dmitrii donald donna dorothy doug douglas edith edward ekaterina
    elena eleanor elizabeth ella ellen emily emma eric erica erik ethan eugene eva evan evgeny evgenia fatima felix fernando fiona
    francesca francesco francis francisco gabriel galina gary george georgia gerald giovanni gleb gordon greg gregory hannah hans harold
    harry heather heidi heinrich helen helena henry howard hugh hugo ian igor ilya inna irina isaac isabel isabella ivan jacob jacqueline
    james jamie jan jane janet janice jason javier jean jeff jeffrey jennifer jeremy jerry jesse jessica jill jim joan joanna joe johan
    johanna johannes john johnny jonas jonathan jose joseph josh joshua juan judith judy julia julian julie justin karen karl kate
    katherine kathleen kathryn katie keith kelly ken kenneth kevin kirill klaus konstantin kristina kyle larisa larry lars laura lauren
    lawrence lena leo leon leonid linda lisa louis louise luca lucas lucia lucy luis lukas lydia lyudmila maksim marc marco margaret maria
    marie marina mario marta martha martin mary matt matteo matthew matthias max maxim megan melanie melissa mia michael michelle miguel mikhail
    mike mila mohamed mohammed monica muhammad nadezhda nancy natalia natalie natasha nathan neil nicholas nick nicola nicole nikita nikolai
    nikolay nina noah norman olaf oleg olga oliver olivia oscar otto pamela patricia patrick paul paula pavel pedro peter petr philip philippe
    pierre piotr polina priya rachel rahul ralph raymond rebecca richard robert roberto robin roger roman ronald rosa roy ruslan russell ruth
    ryan sally sam samantha samuel sandra sara sarah scott sean sebastian sergei sergey sharon shirley simon sofia sonia sophia sophie stanislav
    stefan stephanie stephen steve steven stuart susan suzanne svetlana sven taisiya tamara tanya tatiana tatyana taylor ted teresa terry
    thomas tim timofey timothy tom tony tracy tyler ursula vadim valentina valeria valery vanessa vasily veronica viktor viktoria vincent
    vitaly vlad vladimir vladislav vyacheslav walter wendy werner wilhelm william wolfgang yana yaroslav yegor yulia yuri yuriy yvonne zachary zoe
    giuseppe luigi paolo stefano chiara giulia alessandro davide elisa fabio ingrid astrid bjorn jakub katarzyna agnieszka tomasz marek zofia ines rafael tiago
    joao bruno rodrigo camila yusuf leila nadia samir tariq zainab kofi chinedu ngozi minh thanh arjun vikram neha pooja ravi rajesh sunita siobhan aoife
    wei ming hiroshi kenji yuki sanjay raj anil deepak amit fatma mehmet mustafa ali omar hassan ibrahim aisha
    """.split()
)
GIVEN_LATIN_WORDS = frozenset(
    """
    will mark grace april may june rose bill art frank grant chase hope faith joy dawn summer jordan victoria austin charlotte jack sydney
    madison ray rob sue pat drew gene miles penny ruby crystal amber ivy lily daisy holly autumn rich norm bob dan don ed jay lee stan warren
    jackson lincoln kim dean earl guy harper hunter mason logan parker carter
    """.split()
)
SURNAMES_LATIN = frozenset(
    """
    smith johnson williams brown jones garcia miller davis rodriguez martinez hernandez lopez gonzalez wilson anderson thomas taylor moore
    jackson martin lee perez thompson white harris sanchez clark ramirez lewis robinson walker allen wright scott torres nguyen hill flores
    adams nelson baker hall rivera campbell mitchell roberts gomez phillips evans turner diaz edwards collins stewart morris murphy cook
    rogers morgan peterson cooper reed bailey kelly howard ramos cox richardson watson brooks chavez bennett gray hughes myers patel kim
    chen wang li zhang liu singh kumar khan mueller müller schmidt schneider fischer weber meyer wagner becker hoffmann dubois moreau
    green black young king price page day post west bell ward fox lane stone rossi ferrari bianchi novak kowalski ivanov ivanova petrov petrova sidorov smirnov smirnova kuznetsov popov volkov sokolov
    """.split()
)

GIVEN_CYRILLIC = """
    Александр Алексей Анатолий Андрей Антон Аркадий Арсений Артём Артем Артур Богдан Борис Вадим Валентин Валерий Василий Виктор Виталий Владимир
    Владислав Всеволод Вячеслав Геннадий Георгий Герман Глеб Григорий Давид Даниил Данила Денис Дмитрий Евгений Егор Захар Иван Игорь Илья
    Кирилл Константин Леонид Максим Марат Матвей Михаил Никита Николай Олег Павел Пётр Петр Ренат Роман Руслан Рустам Святослав Семён Семен
    Сергей Станислав Степан Тарас Тимофей Тимур Фёдор Федор Филипп Эдуард Юрий Яков Ярослав Джон Майкл Томас Дэвид Роберт Джеймс
    Саша Лёша Миша Дима Ваня Петя Коля Серёжа Женя Паша Гриша Лёня Костя Володя
    Александра Алёна Алена Алина Алла Анастасия Ангелина Анна Антонина Валентина Валерия Варвара Василиса Вероника Галина Дарья Диана Евгения
    Екатерина Елена Елизавета Жанна Зинаида Зоя Инна Ирина Карина Кира Кристина Ксения Лариса Лидия Людмила Маргарита Марина Мария Наталья Наталия
    Нина Оксана Ольга Полина Раиса Светлана София Софья Таисия Тамара Татьяна Ульяна Юлия Яна Сара Эмма Катя Маша Даша Наташа Таня Аня Оля Лена
    Света Юля Ира Настя Аминат Гульнара Айгуль Эльвира Динара Мэри Джейн Вася Алексей Рамазан Магомед Ахмед Мурад Заур Эльдар Азамат Ильдар Айдар Рашид Камиль Фатима Лейла Зарина Мадина
    Люба Надя Галя Валя Лиза Соня Вика Рита Гоша Стас Толя Юра Боря
""".split()

# Words that do not occur in the name of a person: one of them in a run of capitalised words makes the run a title.
NOT_NAMES = frozenset(
    """
    a about access account accounting accounts action active address admin administrator agency agenda agent ai air all alert all-hands analytics and
    annual anonymous any anyone api app application approval april archive area assistant association at audit august auto avenue award bank bar
    base beach best beta billing blog board bonus book booking bot box branch bridge budget bug bugs build building business by calendar call
    campaign canceled cancelled cart case cases catalog category cell center central centre channel chart chat check checklist church city class
    client clients cloud club co code college column comment committee community company complete conference config confirmed contact contacts
    content contract control cook core corp corporation cost council country county course court coverage create credit crew crm custom customer
    customers daily dark dashboard data database date day days dear debit december default delete deleted delivery demo department deploy
    deployment design desk dev developer development device diagram digest digital direct director discount division doc docs document documents
    done draft drafts drive due east edit editor education email emails employee energy engine engineering enterprise error estate europe event
    events everyone example expense experience export external failed family faq fax feature features february feedback fest field file files
    final finance financial first fix folder follow for form forum foundation free friday from front full fund future gallery game general
    global gmbh goals good great group groups guest guide hall happy head health hello help high hill hiring history holiday home host hotel hour
    house how hq hr hub human id idea important in inbox inc incident index industrial industries info information inner institute insurance
    intelligence internal international interview invoice invoices is island issue issues it items january job jobs july june just kanban key kick-off
    kickoff lab labs lake language laptop launch law leads learning ledger legal level library license light limited line link list live llc loan
    local log login logistics lounge ltd lunch machine mail main maintenance manager management manual map march market marketing master
    matrix me media meeting member members memo memorial menu message messages metrics milestone mobile mode model module monday month monthly mount
    museum music my na name national natural network never new news newsletter next night no nobody none north not notes notice notification notifications november
    null number october of offer office offline ok old on onboarding one online open operations or order orders organization other our out outlook
    overview owner ownership pack page panel park partner partners party pass payment payments payroll pending performance personal phone photo photos
    pilot pipeline place plan planning plans platform please plus policy pool portal post press preview price pricing priority privacy pro process
    product production products program project projects promo proposal prospect public purchase q1 q2 q3 q4 qa quality quarter quarterly query
    question questions queue quick quiz r&d radio ready reception recruiting red regards release reminder renewal reply report reports repo request
    requests research reservation reset resources response restaurant result results retail retro retrospective return review risk river road roadmap
    room root round rules saas safe salary sale sales san santa saint saturday schedule school science search season secretary section security see
    self seminar senior september server service services session settings shared sheet ship shipping shop shopping show sign silver site sms social
    software solution solutions source south space spam special spring sprint square st staff stage standard standup star start startup state
    statement station status stock storage store strategy street stress string student studio style subject subscription subway success suite summary
    sunday support survey sync system systems table tag talent task tasks tax team teams tech technical technology template terms test testing text
    thank thanks the theme thread thursday ticket tickets time title to today todo tomorrow tool tools top total tower town tracker trade training transfer
    transport trash travel trial trip tuesday tutorial two type ui unassigned unit united university unknown untitled update updates upgrade urgent us
    user users ux vacation valley value vendor version video view village vip visit visual volume warehouse warning water weather web webinar
    website wednesday week weekly welcome west what white wiki windows winter with work workflow workshop workspace world year yearly yesterday
    you your zone zoom blue green black golden big small deep east microsoft google amazon apple oracle visual office mr mrs ms miss dr prof professor sir madam
    noreply no-reply donotreply mailer daemon postmaster webmaster undefined n/a tbd tba nobody somebody someone hi hey welcome
    аванс август автор адрес аккаунт акт альбом анализ анкета аптека апрель архив аудит база банк без бланк бонус бот будущее бухгалтерия бюджет вам вас
    вас важное версия весна вечер видео вопрос воскресенье восток время все всем встреча встречи вторник входящие выпуск вы выставка галерея год
    годовой город госуслуги готово график группа данные дата дашборд декабрь дела дело день деньги департамент дизайн директор для дни добрый
    договор договора документ документы долг доставка доступ доход друзья ежедневный еженедельный завод завтра задача задачи заказ заказы закупки зал
    заметка заметки запад заявка звонок здание зима знание зона и из идея или имя инвойс инструкция интервью интернет информация исходящие итог итоги июль июнь
    каждый календарь камень канал карта кафе квартал квартальный квартира кино клиент клиенты клуб книга код количество коллеги команда комиссия
    комитет комментарий компания комплекс контакт контакты контракт контроль конференция копия корзина корпус край красная красный кредит кто
    курс лес лето лига лист логистика магазин май маркетинг март машина медиа мероприятие месяц метро министерство мир модель модуль море москва моя мой музей
    на налог налоги наш наша наши не неделя неизвестно нет никто новая новое новости новость новый ноябрь об область общий обзор образование обучение
    объект озеро октябрь ооо оао зао пао ао опрос оплата отдел отзыв отпуск отчёт отчет отчеты отчёты офис оценка очередь ошибка папка парк партия партнёр
    партнеры первый песня письмо план планы платёж платеж площадь поддержка подготовка подписка поездка поиск покупка покупки пользователь понедельник по
    порт портал посёлок последний поставка почта праздник презентация приказ пример проект проекта проекты проверка программа продажи продукт
    производство промо пространство протокол процесс прочее путешествие пятница работа рабочий развитие раздел район расписание расход расходы расчёт регион реестр
    релиз река ремонт ресторан ретро ретроспектива решение россия российская российский рынок с санкт сайт сбор сборка с свет сдача сегодня север секретарь
    семинар сентябрь сервис сервер система склад скидка смета событие совет созвон сообщение сотрудник спам список спорт спринт сроки среда стандарт
    стандарты старт статус страна строительство студия суббота сумма счёт счет таблица тариф театр тема тест техподдержка типовой товар товары торги
    тренинг уважаемый уважаемая улица универсальный университет управление урок услуга услуги утро участник февраль файл федерация финансы финансовый форма форум
    фото фонд хранилище цель центр церковь цена час черновик черновики четверг чат чек шаблон школа шоу штаб экзамен экономика электронная этап юг январь
    администратор администрация система робот бухгалтер кадры неизвестен отсутствует отсутствуют
    """.split()
)

# A word before a given name that makes the whole a place or a feast: San Diego, Lake Victoria, Saint Peter.
PLACE_LEADS = frozenset(
    "san santa santo saint st sainte lake mount mt fort port new los las el cape point king queen prince pope святой святого озеро".split()
)

_SOFT = {"ь": ("я", "ю", "ем", "е", "ём"), "й": ("я", "ю", "ем", "е")}


def declined(names: Iterable[str]) -> frozenset[str]:
    """Every singular case form of Russian given names, case-folded: Иван → иван, ивана, ивану, иваном, иване."""
    forms: set[str] = set()
    for name in names:
        word = name.casefold()
        stem, last = word[:-1], word[-1]
        forms.add(word)
        if word in ("павел", "пётр", "петр", "лев"):
            stem = {"павел": "павл", "лев": "льв"}.get(word, "петр")
            forms.update(stem + e for e in ("а", "у", "ом", "е"))
        elif last == "а":
            forms.update(stem + e for e in ("ы", "и", "е", "у", "ой", "ей"))
        elif last == "я":
            forms.update(stem + e for e in ("и", "е", "ю", "ей", "ёй"))
        elif last in _SOFT:
            forms.update(stem + e for e in (*_SOFT[last], "и"))
        else:
            forms.update(word + e for e in ("а", "у", "ом", "е", "ем"))
    return frozenset(forms)
