"""Sixty devices of many makers, as they publish over MQTT, with what each reading is: of our own making.

Each line of a device is `path = values -> name` or `path = values -> name conversion`. Values are a range of numbers,
or words with the common word behind a colon; `-` as the name says that the reading has no common name, so that
withholding it is right. The conversions are those of units that the maker's documentation states.
"""

from __future__ import annotations

from typing import Final

DEVICES: Final = """
zigbee2mqtt/attic
temperature = 15..28 -> temperature
humidity = 30..70 -> humidity
battery = 20..100 -> battery
pressure = 980..1030 -> pressure
linkquality = 30..200 -> link_quality

zigbee2mqtt/hall/motion
occupancy = true:detected false:clear -> presence
illuminance = 0..300 -> illuminance
device_temperature = 20..35 -> device_temperature

zigbee2mqtt/front door
contact = true:closed false:open -> contact
battery_low = true:low false:ok -> low_battery
tamper = true:detected false:clear -> tamper

zigbee2mqtt/kitchen/leak
water_leak = true:detected false:clear -> leak
battery = 20..100 -> battery

zigbee2mqtt/bath/trv
local_temperature = 18..24 -> room_temperature
current_heating_setpoint = 18..23 -> target_temperature
pi_heating_demand = 0..100 -> -

zigbee2mqtt/lamp
state = ON:on OFF:off -> switch
brightness = 1..254 -> -
color_temp = 153..500 -> -

zigbee2mqtt/air
co2 = 400..1500 -> carbon_dioxide
voc = 10..500 -> volatile_organic_compounds
pm25 = 1..40 -> pm25
formaldehyd = 1..40 -> -

zigbee2mqtt/plug
state = ON:on OFF:off -> switch
power = 0..2000 -> power
energy = 1..500 -> energy
voltage = 225..240 -> voltage
current = 0.1..9 -> current

tele/washer/SENSOR
ENERGY.Power = 0..2200 -> power
ENERGY.ApparentPower = 0..2300 -> apparent_power
ENERGY.ReactivePower = 0..400 -> reactive_power
ENERGY.Total = 100..200 -> energy
ENERGY.Today = 0.1..3 -> daily_energy
ENERGY.Factor = 0.4..0.99 -> power_factor

tele/greenhouse/SENSOR
AM2301.Temperature = 5..40 -> temperature
AM2301.Humidity = 30..95 -> humidity
AM2301.DewPoint = 0..20 -> dew_point

tele/boiler/SENSOR
DS18B20-1.Temperature = 30..70 -> temperature
DS18B20-2.Temperature = 25..60 -> temperature

tele/esp/STATE
UptimeSec = 100..90000 -> uptime
Heap = 20..30 -> -
Wifi.Signal = -80..-40 -> signal_strength
POWER = ON:on OFF:off -> switch

shellyplus1pm-a1/status/switch:0
output = true:on false:off -> switch
apower = 0..2000 -> power
voltage = 225..240 -> voltage
current = 0.1..9 -> current
aenergy.total = 1000..90000 -> energy /1000
temperature.tC = 40..60 -> device_temperature

shellyplusht-b2/status/temperature:0
tC = 15..28 -> temperature

shellyplusht-b2/status/humidity:0
rh = 30..70 -> humidity

shellyplusht-b2/status/devicepower:0
battery.V = 4.5..6 -> battery_voltage
battery.percent = 20..100 -> battery

shellies/shellyflood-C3D4E5/sensor/flood
= true:detected false:clear -> leak

shellies/shellydw2-C3D4E5/sensor/state
= open:open close:closed -> contact

shellies/shellyht-C3D4E5/sensor/temperature
= 15..28 -> temperature

shellies/shellyplug-s-C3D4E5/relay/0
= on:on off:off -> switch

shellies/shellyplug-s-C3D4E5/relay/0/power
= 0..2000 -> power

shellies/shellyplug-s-C3D4E5/temperature
= 30..60 -> device_temperature

N/f0/battery/512/Soc
value = 20..100 -> battery

N/f0/battery/512/Dc/0/Voltage
value = 48..56 -> voltage

N/f0/battery/512/Dc/0/Current
value = -40..40 -> current

N/f0/solarcharger/288/Yield/Power
value = 0..3000 -> power

N/f0/tank/20/Level
value = 0..100 -> fill_level

N/f0/grid/30/Ac/Power
value = -3000..3000 -> grid_power

evcc/site/gridPower
= -4000..9000 -> grid_power

evcc/site/pvPower
= 0..9000 -> solar_power

evcc/site/homePower
= 200..4000 -> load_power

evcc/site/batterySoc
= 5..100 -> battery

evcc/loadpoints/1/chargePower
= 1400..11000 -> charging_power

evcc/loadpoints/1/chargedEnergy
= 100..30000 -> charging_energy /1000

evcc/loadpoints/1/charging
= true:on false:off -> charging

evcc/vehicles/kona/range
= 50..400 -> range

node/sensor/living_room_temperature/state
= 18..25 -> room_temperature

node/sensor/outdoor_humidity/state
= 40..95 -> outdoor_humidity

node/sensor/co2/state
= 400..1500 -> carbon_dioxide

node/sensor/wifi_signal/state
= -80..-40 -> signal_strength

node/binary_sensor/water_leak/state
= ON:detected OFF:clear -> leak

v3/farm@ttn/devices/dragino/up
uplink_message.decoded_payload.TempC_SHT = 5..40 -> temperature
uplink_message.decoded_payload.Hum_SHT = 30..95 -> humidity
uplink_message.decoded_payload.BatV = 2.8..3.6 -> battery_voltage

v3/farm@ttn/devices/lse01/up
uplink_message.decoded_payload.water_SOIL = 5..60 -> soil_moisture
uplink_message.decoded_payload.temp_SOIL = 5..25 -> soil_temperature
uplink_message.decoded_payload.conduct_SOIL = 50..900 -> conductivity

v3/farm@ttn/devices/am319/up
uplink_message.decoded_payload.temperature = 18..26 -> temperature
uplink_message.decoded_payload.humidity = 30..60 -> humidity
uplink_message.decoded_payload.co2 = 400..1500 -> carbon_dioxide
uplink_message.decoded_payload.tvoc = 10..300 -> volatile_organic_compounds
uplink_message.decoded_payload.pressure = 980..1030 -> pressure
uplink_message.decoded_payload.light_level = 0..5 -> -

application/7/device/0011/event/up
object.temperature = 5..40 -> temperature
object.battery = 20..100 -> battery
object.distance = 200..4000 -> -

application/7/device/0012/event/up
object.waterLeak = true:detected false:clear -> leak
object.batteryVoltage = 2.8..3.6 -> battery_voltage

pws/garden
tempf = 40..95 -> temperature f
tempinf = 65..75 -> room_temperature f
humidity = 30..95 -> humidity
baromrelin = 29.2..30.4 -> sea_level_pressure *33.8638867
windspeedmph = 0..30 -> wind_speed *0.44704
windgustmph = 0..40 -> gust_speed *0.44704
winddir = 0..359 -> wind_direction
dailyrainin = 0..2 -> daily_rainfall *25.4
solarradiation = 0..1000 -> solar_radiation
uv = 0..10 -> uv_index

growatt/sph
pvPower = 0..5000 -> solar_power
batterySoc = 10..100 -> battery
outputPower = 0..5000 -> -
gridFrequency = 49.9..50.1 -> frequency
inverterTemperature = 30..60 -> inverter_temperature

heatpump/aquarea
outside_temp = -10..35 -> outdoor_temperature
flow_temp = 25..50 -> supply_temperature
return_temp = 22..45 -> return_temperature
dhw_temp = 35..55 -> hot_water_temperature
compressor_freq = 0..80 -> frequency
defrosting = true:on false:off -> defrosting
flow_lmin = 5..30 -> water_flow

ems-esp/boiler_data
outdoortemp = -10..35 -> outdoor_temperature
curflowtemp = 25..70 -> supply_temperature
rettemp = 22..60 -> return_temperature
wwcurtemp = 35..60 -> -
burngas = on:on off:off -> burner
syspress = 0.8..2.5 -> -

openhab/items/Garage_Door/state
= OPEN:open CLOSED:closed -> garage_door

openhab/items/Kitchen_Temperature/state
= 18..25 -> room_temperature

home/cellar/humidity
= 40..90 -> humidity

home/office/noise
dB = 30..70 -> noise_level

opendtu/1164/0/power
= 0..600 -> power

smartmeter/p1
power_delivered = 0..4 -> -
voltage_l1 = 225..240 -> voltage

wmbus/watermeter
total_m3 = 100..400 -> water_volume
flow_l_h = 0..800 -> -
battery_y = 5..12 -> -

rtl_433/Acurite-5n1/A/1234
temperature_F = 40..95 -> temperature f
humidity = 30..95 -> humidity
wind_avg_km_h = 0..60 -> wind_speed /3.6
rain_mm = 0..20 -> rainfall
battery_ok = 1:ok 0:low -> low_battery

rtl_433/TPMS/88
pressure_kPa = 180..260 -> tyre_pressure *0.01
temperature_C = 5..50 -> temperature

teslamate/cars/1/battery_level
= 10..95 -> battery

teslamate/cars/1/outside_temp
= -10..35 -> outdoor_temperature

teslamate/cars/1/odometer
= 10000..60000 -> mileage

tuya/siren
alarm = true:fault false:ok -> alarm
battery_state = high:- low:- -> -

nuki/front
lockState = locked:locked unlocked:unlocked -> lock
batteryCritical = true:low false:ok -> low_battery

ecowitt/soil1
soilmoisture1 = 10..60 -> soil_moisture
soilbatt1 = 1.2..1.6 -> battery_voltage
"""

# Of ecosystems that nothing above names: written before they were tried, and not used to change anything.
OTHERS: Final = """
homie/weather/outside/temperature
= -10..35 -> outdoor_temperature

home/OMG/BTtoMQTT/A4C138
tempc = 10..30 -> temperature
tempf = 50..86 -> temperature f
hum = 30..70 -> humidity
batt = 10..100 -> battery
rssi = -95..-40 -> signal_strength

ruuvi/AA/BB
temperature = 10..30 -> temperature
humidity = 30..70 -> humidity
pressure = 98000..103000 -> pressure *0.01
voltage = 2500..3100 -> -
movementCounter = 0..255 -> -

airgradient/readings/84fce6
pm02 = 1..60 -> -
rco2 = 400..1500 -> carbon_dioxide
atmp = 15..30 -> -
rhum = 30..70 -> humidity
tvocIndex = 1..400 -> voc_index
noxIndex = 1..50 -> nox_index
wifi = -80..-40 -> -

valetudo/robot/BatteryStateAttribute/level
= 5..100 -> battery

frigate/drive/motion
= ON:detected OFF:clear -> presence

envoy/production
wattsNow = 0..6000 -> power
whToday = 0..30000 -> daily_energy /1000

fronius/inverter
PAC = 0..8000 -> power
UAC = 225..240 -> voltage
FAC = 49.9..50.1 -> frequency
UDC = 200..500 -> -
DAY_ENERGY = 0..30000 -> -

msh/EU/2/json/LongFast/node
payload.battery_level = 10..100 -> battery
payload.voltage = 3.3..4.2 -> voltage
payload.air_util_tx = 0..10 -> -

netatmo/station
Temperature = 15..28 -> temperature
CO2 = 400..1500 -> carbon_dioxide
Humidity = 30..70 -> humidity
Noise = 30..70 -> noise_level
Pressure = 980..1030 -> pressure
AbsolutePressure = 930..1000 -> pressure

ebusd/700/z1RoomTemp
tempv.value = 17..24 -> room_temperature

hm/status/Window/STATE
val = true:open false:closed -> window

sonoff/th16
currentTemperature = 10..30 -> temperature
currentHumidity = 30..70 -> humidity
switch = on:on off:off -> switch

goodwe/et
ppv = 0..6000 -> solar_power
battery_soc = 10..100 -> battery
grid_export = -3000..3000 -> -
temperature_air = 30..60 -> -

aqualink/pool
pool_temp = 20..30 -> pool_temperature
ph = 6.8..7.8 -> acidity
orp = 600..800 -> redox_potential
"""
