"""Russian words by what they mean in English."""

from __future__ import annotations

MEANINGS = """
show display view list get describe see: показать покажи выведи вывести
show display view list get describe see: посмотреть глянуть увидеть отобразить
list enumerate: список перечисли перечислить перечень
get retrieve fetch return: получить получи достать выдать дай дать верни вернуть
find search look lookup locate discover: найти найди искать ищи поиск отыскать поищи
what which describe get: какой какая какие каков чему
how many count number quantity: сколько количество число
create add make new set define register: создать создай добавить добавь завести
create add make new set define register: сделать сделай новый новая внести внеси
add append attach: добавить добавь дополнить дописать допиши приложить
append end add: дописать допиши
delete remove erase drop clear: удалить удали убрать убери стереть сотри снять очистить уничтожить
remove detach disassociate unlink: отвязать отвяжи отсоединить отцепить убрать исключить
attach associate link bind connect: привязать привяжи связать присоединить прикрепить назначить
update change modify edit set: изменить измени обновить обнови
update change modify edit set: поменять поменяй исправить исправь править
change replace switch rotate: сменить смени заменить замени поменять переключить
rename name: переименовать переименуй
name title: имя название заголовок
start begin run launch initiate: начать начни запустить запусти стартовать запуск пуск
stop end halt cancel terminate: остановить останови прекратить прекрати завершить закончить прервать
cancel abort revoke undo: отменить отмени отмена аннулировать отозвать
close complete finish resolve: закрыть закрой завершить заверши закончить решить
open: открыть открой открытый
complete finish: завершить заверши доделать окончить
enable activate turn on allow: включить включи активировать подключить разрешить разреши
disable deactivate turn off suspend: выключить выключи отключить
disable deactivate turn off suspend: отключи деактивировать приостановить
allow permit grant permission access: разрешить разрешение позволить предоставить право права доступ
deny forbid block reject restrict: запретить запрет запрещать блокировать заблокировать отказать
restrict limit restriction policy: ограничить ограничение ограничивать
approve accept confirm: одобрить одобри одобрение принять прими утвердить подтвердить согласовать
reject decline refuse deny: отклонить отклони отказать отвергнуть
check verify validate test evaluate: проверить проверь проверка убедиться удостовериться
validate valid syntax: правильный корректный валидный допустимый
invalid incorrect wrong: недействительный неверный неправильный некорректный ошибочный
send message tell inform notify: сообщить сообщи передать передай расскажи
send deliver: отправить отправь послать пошли выслать рассылать
receive incoming: принять получать приходить прийти входящий
reply answer respond response: ответить ответь ответ отвечать
forward redirect: переслать перешли перенаправить
read: читать прочитать прочитай прочесть
write compose draft: написать напиши писать сочинить
copy duplicate clone: копировать скопируй копия дублировать
move transfer push: переместить перемести перенести перенеси передать перевести
transfer push migrate: перенос перенести перевод передача миграция
upload import: загрузить загрузи загрузка залить выгрузить импорт
download export: скачать скачай выгрузить загрузить
import ingest load upload: импорт импортировать загрузка
export: экспорт экспортировать выгрузка
save store keep put: сохранить сохрани хранить записать
restore recover undelete: восстановить восстанови восстановление вернуть
archive archiving: архив архивировать архивируй заархивировать
backup: резервный резервная бэкап копия копирование
recovery point: точка восстановления
snapshot: снимок снапшот
vault storage: хранилище сейф
storage store: хранилище склад хранение
tier tiering class level: уровень уровни ярус класс
cold cheap archive: дешевый холодный
schedule scheduled timetable: расписание запланировать график
plan plans: план планы планировать
template templates: шаблон шаблоны
report reports reporting: отчет отчеты отчетность
summary overview summaries: сводка обзор кратко итог
statistics stats metrics: статистика показатель метрика
history log past: история журнал прошлый прошедший
log logs journal: журнал лог логи протокол
recent latest last most recent: последний недавний свежий крайний
status state progress: статус состояние ход готов готово
settings configuration preferences options attributes: настройки настройка параметры
settings configuration preferences options attributes: параметр конфигурация опция
configure setup set up: настроить настрой сконфигурировать
attribute attributes property properties field: атрибут атрибуты свойство поле
value values: значение значения
metadata: метаданные
custom: пользовательский собственный особый
user users member people: пользователь пользователи юзер
member members participant: участник член состав состоять
attendee participant: участник
group groups team: группа группы команда
team: команда бригада отдел
department unit team: отдел подразделение
organization company enterprise: организация компания фирма предприятие
role roles: роль роли должность
person people: человек люди
everyone all: все всех весь
account accounts: аккаунт аккаунты счет учетная запись
account balance: счет баланс остаток
login sign authenticate session: войти вход логин вошел авторизация авторизоваться
logout sign out: выйти выйди выход разлогиниться
password passcode: пароль
token tokens: токен
key keys: ключ ключи
encryption encrypted encrypt: шифрование зашифрованный шифровать
certificate certificates: сертификат
security secure: безопасность защита защищенный
protective equipment protection: защита средства каска маска защитный
access permissions: доступ права разрешения
policy policies rule: политика политики правило
rule rules: правило правила
condition conditions: условие условия
role impersonation impersonate: выступать подменять имперсонация
identity: личность идентичность удостоверение
authorization: авторизация разрешение
mail email message letter: письмо письма почта почтовый мейл имейл емейл
mailbox inbox: ящик ящики входящие почтовый
mailing newsletter campaign: рассылка рассылать
deliverability delivery placement inbox: доставляемость доставка
message messages text: сообщение сообщения
chat conversation: чат беседа переписка разговор
channel channels: канал каналы
contact contacts: контакт контакты контактный
contact channel: связь канал
subscription subscribe subscriber: подписка подписки подписаться подписчик
unsubscribe unfollow: отписаться отпиши отписка
subscriber recipient notification: подписчик получатель
notification notify alert alerts: уведомление уведомления оповещение оповестить сообщать тревога
alert alarm warning: тревога предупреждение сигнал
topic subject theme: тема темы
subject: тема
comment comments review: комментарий комментарии отзыв отзывы замечание
review reviews feedback: отзыв отзывы рецензия
follow: подписаться следить
tweet post: твит твиты пост
post publish: опубликовать выложить разместить размести публикация
like: лайк нравиться
call phone: звонок позвонить звонить вызов
phone telephone mobile: телефон телефонный мобильный
device devices: устройство устройства прибор
meeting meetings: встреча встречи совещание собрание
appointment event calendar: встреча событие мероприятие календарь прием
calendar event: календарь
reminder remind: напоминание напомни напомнить
task tasks job: задача задачи дело задание
job jobs task: задание задания задача работа
assignment work task: задание работа поручение
worker workers: исполнитель работник рабочий
qualification: квалификация
human intelligence task HIT: задание исполнитель
note notes: заметка заметки записка
document documents file: документ документы
file files: файл файлы
folder directory: папка каталог директория
page: страница
attachment attachments: вложение вложения приложенный
link url: ссылка адрес
website site web: сайт страница веб
text: текст текста
word words: слово слова
line lines: строка строки линия
table tables: таблица таблицы
form forms: форма формы бланк
image images picture photo: изображение картинка фото фотография снимок
label labels objects detect: объект объекты предмет метка определить
object objects: объект
face faces: лицо лица
celebrity: знаменитость звезда
video: видео ролик
audio sound: звук аудио
voice speech speaker: голос голоса голосовой речь
speech synthesize: озвучить озвучь прочитать вслух
speech recognition transcription: распознавание речь расшифровка
transcription transcribe transcript: расшифровка расшифровать транскрипция стенограмма запись
vocabulary dictionary: словарь
lexicon pronunciation: лексикон произношение
language: язык языковой
translate translation translator: перевести переведи перевод переводчик
terminology glossary: терминология термины глоссарий
scan document: скан отсканировать
detect recognize identify recognition: распознать распознай распознавание
detect recognize identify recognition: определить обнаружить выявить
recognizer: распознаватель
analysis analyze: анализ анализировать проанализировать
classification classify: классификация классифицировать
sentiment mood tone: настроение тональность
toxic toxicity offensive: оскорбительный токсичный оскорбление
key phrases: ключевой фраза
entity entities: сущность
extract extraction: извлечь извлечение
dataset data: данные датасет набор
data: данные
set: набор комплект
model models: модель модели
train training: обучение обучить тренировка обучаемый
learning: обучение изучение
flywheel iteration: маховик итерация
recommendation recommend recommender: рекомендация рекомендации посоветовать совет рекомендатель
suggest suggestion: предложить подсказать подсказка
forecast prediction predict: прогноз предсказать
generate generation: генерировать формировать сформировать формироваться сгенерировать
create purchase buy order: купить купи покупка приобрести
purchase procurement buying: покупка закупка закупочный закупки
sell sale: продать продажа
order orders: заказ заказы
shop store: магазин лавка
cart basket: корзина
product products goods item: товар товары продукт изделие
price prices cost: цена цены стоимость
cost costs expenses: затраты расходы издержки стоимость
spend spending: тратить трата расходовать
bill billing invoice: счет счета выставление
invoice invoices: счет счета накладная фактура
invoice unit: подразделение счет
payment payments pay: платеж оплата оплатить заплатить
budget budgets: бюджет бюджеты
savings saving: экономия сбережения сэкономить
savings plans: план экономия
discount: скидка
reservation reserved reserve: бронь бронирование резервирование резерв зарезервировать
booking book: бронь бронирование забронировать
utilization usage use: использование использовать
usage used: использование потребление
free tier: бесплатный
free: бесплатный свободный
available availability: доступный свободный свободен наличие
credit bonus reward: кредит бонус награда
activity activities: активность действие деятельность
tax taxes: налог налоги налоговый
exemption: освобождение льгота
registration register: регистрация зарегистрировать регистрационный
bank banking: банк банковский
transaction transactions: транзакция операция
transfer money: перевод
card: карта карточка
money cash: деньги наличные
currency exchange: валюта обмен курс
stock stocks shares: акция акции
watchlist watch: наблюдение следить
trade trading: торговля торговый торги
fiscal financial year: финансовый год
customer customers client: клиент клиенты покупатель заказчик
profile profiles: профиль профили
match matches matching: совпадение совпадения соответствие подобрать матч
rule based: правило
merge combine: слить слияние объединить
pull request merge: слияние запрос
request: запрос заявка просьба
repository: репозиторий
branch: ветка филиал
commit: коммит
code: код
conflict difference: конфликт противоречие
difference compare diff: отличие отличаться разница сравнить чем
approval: одобрение согласование
build: сборка собрать
deploy deployment: развернуть развертывание
version versions: версия версии
release: выпуск релиз
test tests testing: тест тесты тестирование испытание
project projects: проект проекты
script: скрипт сценарий
function: функция
server servers: сервер
network: сеть сетевой
network profile: сеть профиль
slow: медленный
fast: быстрый
fleet fleets: флот парк
container: контейнер контейнерный
instance instances: экземпляр инстанс
capacity: емкость мощность вместимость
location locations place: локация место местоположение расположение
game: игра игровой
player: игрок
session sessions: сессия сеанс
stream streaming live: трансляция трансляции поток стрим прямой эфир
playback watch: просмотр воспроизведение смотреть
channel: канал
ad advertisement: реклама рекламный
incident incidents: инцидент происшествие авария
outage down failure: сбой авария недоступен работать упал
finding findings: находка вывод
case cases: обращение обращения дело случай
support help: поддержка помощь
ticket tickets: заявка тикет обращение билет
escalation: эскалация
engagement: вовлечение
on call rotation shift: дежурство смена дежурный
replication replica: репликация
region regions: регион область
area reachable isoline: область охватить территория
domain domains: домен домены
registrar: регистратор
expire expiration: истечь срок
renew renewal: продлить продли продление
offering: предложение аренда
lease rent rental: аренда прокат
car vehicle: машина автомобиль авто
drive driving: ехать водить машина
route routes directions: маршрут путь дорога
distance: расстояние
road: дорога
map: карта
place places: место места
nearby near nearest: рядом ближайший поблизости около
address addresses: адрес адреса
city: город
street: улица
country: страна
zip postal: индекс почтовый
airport airports: аэропорт
flight flights: рейс перелет полет
hotel hotels: отель гостиница
restaurant restaurants: ресторан кафе
cuisine: кухня
coffee cafe: кофейня кофе
food meal dish: еда блюдо
recipe: рецепт
trip travel: поездка путешествие командировка
satellite: спутник спутниковый
antenna ground station: антенна
mission: миссия
minute minutes: минута
temperature: температура
outside weather: улица погода
weather: погода
engine: двигатель мотор
door doors lock: дверь
tire: шина
fuel gas: топливо бензин
liter litre: литр
gallon: галлон
multiply times product: умножить умножение произведение
divide: разделить деление
sum total: сумма итог
subtract: вычесть
average mean: среднее средний
percent percentage: процент
root square: корень квадратный
power: степень мощность
absolute value: модуль абсолютный
number: число номер
convert conversion: перевести конвертировать преобразовать преобразование
unit units: единица
calculate compute: посчитать вычислить рассчитать
calculated: вычисляемый рассчитанный
random: случайный
date day: дата день
month monthly: месяц
week weekly: неделя
year: год
hour: час
time: время
period quarter: период квартал
today: сегодня
now current: сейчас текущий нынешний
bot: бот
workflow process: рабочий процесс
trigger: триггер
event events: событие
flow integration: поток интеграция
integration: интеграция
execution run: запуск выполнение исполнение
connect portal: подключить подключи портал
portal: портал
supplier vendor: поставщик
warehouse supply: склад снабжение поставка
shipment delivery: отправление доставка поставка
namespace: пространство имен
workspace: рабочий пространство
environment: окружение среда
tenant: арендатор
adapter: адаптер
lake: озеро
medical health: медицинский здоровье
doctor: врач доктор
patient: пациент
medicine drug: лекарство препарат
hospital clinic: больница клиника
school education: школа образование
student: студент ученик
course lesson: курс урок
teacher: учитель преподаватель
book books: книга книги
library: библиотека
movie film: фильм кино
music song: музыка песня
playlist: плейлист
artist: художник исполнитель артист
news: новость новости
sport: спорт
team match: команда матч
score result: счет результат
result results: результат результаты итог закончиться
light lights: свет лампа
room: комната помещение
house home: дом
door: дверь
camera: камера
battery: батарея заряд
heating: отопление
water: вода
energy electricity: энергия электричество
insurance: страховка страхование
contract agreement: договор контракт соглашение
law legal: закон юридический правовой
court: суд
tenant: арендатор
employee staff: сотрудник работник персонал
manager: менеджер руководитель
salary: зарплата
vacation leave: отпуск
candidate: кандидат
vote poll survey: опрос голосование
question: вопрос
problem issue error: проблема ошибка
error: ошибка
priority: приоритет
urgent: срочный
deadline due: срок дедлайн
owner: владелец
private: личный частный персональный
personal: персональный личный
public: публичный общедоступный
shared share: общий поделиться поделись
tag: тег метка
category type kind: категория тип вид
type: тип вид
size: размер
color: цвет
folder mail: папка
trash: корзина
spam: спам
signature: подпись подписать
draft: черновик
thread: цепочка ветка
queue: очередь
topic: тема
key pair: пара ключей
bucket: корзина бакет
database: база
table: таблица
query: запрос
index: индекс
cluster: кластер
resource resources: ресурс ресурсы
dashboard: панель
filter: фильтр отфильтровать
sort: сортировать упорядочить
connection: соединение подключение
address IP: адрес
protocol: протокол
port: порт
load balancer: балансировщик нагрузка
traffic: трафик
domain name: домен
identity provider: поставщик удостоверений
directory: каталог справочник
child: ребенок дочерний
parent: родитель родительский
family: семья
gift: подарок
wedding: свадьба
birthday: рождение рождения
bar: бар
train: поезд
bus: автобус
ticket: билет
seat: место
bridge: мост
river: река
mountain: гора
sea: море
animal: животное
plant: растение
"""
